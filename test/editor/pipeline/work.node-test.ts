import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SaveState } from '../../../editor/src/draft/save-queue.ts';
import {
  type BuildState,
  type DeployState,
  actionErrorAdvice,
} from '../../../editor/src/pipeline/progress.ts';
import {
  type TestStatus,
  buildStatus,
  buildLabel,
  deployStatus,
  statusOf,
  testStatus,
  testsBadge,
} from '../../../editor/src/pipeline/work.ts';
import { workOf } from './work-of.ts';

const at = new Date(2026, 0, 1, 9, 5);
/** As English writes it: `09:05 AM`. */
const nineOhFive = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit' }).format(at);

test('the build is shown as current only for the text that was built', () => {
  const table: [BuildState, string, string][] = [
    [{ kind: 'none' }, 'Not built since opening', 'calm'],
    [{ kind: 'none', hasNeverRun: true }, 'Not built yet', 'calm'],
    [{ kind: 'building' }, 'Building…', 'busy'],
    [{ kind: 'built', sourceKey: 'now', at }, `Built ${nineOhFive}`, 'good'],
    [{ kind: 'built', sourceKey: 'now' }, 'Built', 'good'],
    [{ kind: 'built', sourceKey: 'before', at }, 'Changed since the build', 'calm'],
    [{ kind: 'failed', sourceKey: 'now', problems: 1 }, 'Build failed: one problem', 'bad'],
    [{ kind: 'failed', sourceKey: 'now', problems: 3 }, 'Build failed: 3 problems', 'bad'],
    [{ kind: 'failed', sourceKey: 'now', problems: 0 }, 'Build failed', 'bad'],
    [{ kind: 'failed', sourceKey: 'before', problems: 3 }, 'Changed since the failed build', 'calm'],
    [{ kind: 'unfinished', error: 'stopped' }, 'Not built: stopped', 'calm'],
    [{ kind: 'unfinished', error: 'session' }, 'Not built: your session ended', 'bad'],
  ];
  for (const [build, text, tone] of table) assert.deepEqual(buildStatus(workOf({ build })), { text, tone });
});

test('an error is shown until it is resolved', () => {
  const lost: BuildState = { kind: 'unfinished', error: 'connection' };
  const unsaved: BuildState = { kind: 'unfinished', error: 'not-saved' };
  const failed: SaveState = { kind: 'failed', failure: 'connection' };
  const saved: SaveState = { kind: 'saved', at };
  const over = { text: 'The last build did not finish', tone: 'calm' };
  assert.deepEqual(buildStatus(workOf({ build: lost, isOnline: false })), {
    text: 'Not built: connection lost',
    tone: 'bad',
  });
  assert.deepEqual(buildStatus(workOf({ build: lost })), over);
  assert.deepEqual(buildStatus(workOf({ build: unsaved, save: failed })), {
    text: 'Not built: not saved',
    tone: 'bad',
  });
  assert.deepEqual(buildStatus(workOf({ build: unsaved, save: saved })), over);
  const ended = { kind: 'unfinished', error: 'session' } as const;
  const resolved = new Set(['session'] as const);
  assert.deepEqual(buildStatus(workOf({ build: ended, resolved })), over);
  assert.deepEqual(deployStatus(workOf({ deployment: ended, resolved })), {
    text: 'Not deployed since opening',
    tone: 'calm',
  });
  assert.deepEqual(deployStatus(workOf({ deployment: { ...ended, error: 'forbidden' }, resolved })), {
    text: 'Not deployed: you cannot edit this plugin',
    tone: 'bad',
  });
  assert.equal(statusOf(workOf({ isOnline: false })).connection?.text, 'No connection');
  assert.equal(statusOf(workOf()).connection, undefined);
});

test('after a reload a deployed text counts as built', () => {
  const deployed: DeployState = { kind: 'deployed', version: 'v1.0.2', sourceKey: 'now' };
  const build: BuildState = { kind: 'none', hasNeverRun: true };
  assert.equal(buildStatus(workOf({ build, deployment: deployed })).text, 'Built');
  const before = 'The text as it is was built before the plugin was opened here.';
  assert.equal(buildLabel(workOf({ build, deployment: deployed })), before);
  assert.equal(buildLabel(workOf({ build: { kind: 'built', sourceKey: 'now' } })), before);
  assert.equal(
    buildStatus(workOf({ build, deployment: deployed, sourceKey: 'newer' })).text,
    'Changed since the build',
  );
});

test('a text with errors is not shown as built', () => {
  const build: BuildState = { kind: 'built', sourceKey: 'now', at };
  assert.equal(buildLabel(workOf({ build })), 'The build succeeded.');
  assert.equal(
    buildLabel(workOf({ build, sourceKey: 'newer', errors: 8 })),
    'The last build succeeded. The text has changed since.',
  );
  const statusWith = (last: BuildState) => buildStatus(workOf({ build: last, problems: 8, errors: 1 }));
  assert.deepEqual(statusWith(build), { text: `Built ${nineOhFive}, 8 problems`, tone: 'calm' });
  // After a reload, the text is checked before anything is built.
  assert.equal(statusWith({ kind: 'none', hasNeverRun: true }).text, 'Not built yet, 8 problems');
  assert.equal(
    statusWith({ kind: 'failed', sourceKey: 'now', problems: 8 }).text,
    'Build failed: 8 problems',
  );
  assert.equal(statusWith({ kind: 'building' }).text, 'Building…');
  assert.equal(buildStatus(workOf({ build, problems: 8 })).text, `Built ${nineOhFive}`);
});

test('the deployment is shown as current only for the text that was deployed, and a lost response is no failure', () => {
  const current: DeployState = { kind: 'deployed', sourceKey: 'now', version: 'v1.0.4' };
  const table: [DeployState, string | undefined, string][] = [
    [{ kind: 'none' }, undefined, 'Not deployed since opening'],
    [{ kind: 'none', hasNeverRun: true }, undefined, 'Not deployed yet'],
    [{ kind: 'deploying' }, undefined, 'Deploying…'],
    [current, undefined, 'v1.0.4 deployed'],
    [current, 'v1.0.4', 'v1.0.4 deployed and live'],
    [current, 'v1.0.2', 'v1.0.4 deployed, v1.0.2 is live'],
    [{ ...current, sourceKey: 'before' }, 'v1.0.4', 'v1.0.4 deployed, draft is newer'],
    [{ kind: 'deployed', version: 'v1.0.4' }, undefined, 'v1.0.4 deployed, draft is newer'],
    [{ kind: 'unfinished', error: 'busy' }, undefined, 'Not deployed: the service is busy'],
    [{ kind: 'unfinished', error: 'connection' }, undefined, 'Perhaps deployed: connection lost'],
    [{ kind: 'unfinished', error: 'service' }, undefined, 'Perhaps deployed: the service has a problem'],
  ];
  for (const [deployment, live, text] of table) {
    assert.equal(deployStatus(workOf({ deployment, live })).text, text);
  }
});

test('only tests that fail with the present text turn the badge red, and only if all pass it has a tick', () => {
  const passed: TestStatus = { verdict: 'passed', isCurrent: true };
  const failed: TestStatus = { verdict: 'failed', isCurrent: true };
  const old: TestStatus = { verdict: 'failed', isCurrent: false };
  const ran: TestStatus = { verdict: 'ran', isCurrent: true };
  const none: TestStatus = { verdict: 'none', isCurrent: true };
  const table: [TestStatus[], string | undefined, number, string][] = [
    [[none, none], undefined, 2, 'calm'],
    [[passed, failed, ran], '1 of 3 tests failed', 1, 'bad'],
    [[passed, passed, none], '2 tests passed', 3, 'calm'],
    [[passed, passed], '2 tests passed', 2, 'good'],
    [[ran], '1 test ran', 1, 'calm'],
    [[old, none], 'Tests ran before the last change', 2, 'calm'],
  ];
  for (const [tests, text, number, tone] of table) {
    assert.equal(testStatus(workOf({ tests }))?.text, text);
    const badge = testsBadge(workOf({ tests }));
    assert.deepEqual([badge.number, badge.tone], [number, tone]);
  }
  const testing = { done: 1, all: 3 };
  assert.deepEqual(testStatus(workOf({ tests: [failed], action: 'test', testing })), {
    text: 'Testing, 1 of 3…',
    tone: 'busy',
  });
});

test('a read-only editor shows nothing about saving, and about building what may be deployed alone', () => {
  for (const [canDeploy, said] of [
    [false, undefined],
    [true, 'Not built since opening'],
  ] as const) {
    const { saved, built } = statusOf(workOf({ isReadOnly: true, canDeploy, save: { kind: 'unsaved' } }));
    assert.deepEqual([saved?.text, built?.text], ['Read-only', said]);
  }
});

test('every error has advice unless the user caused it, and a button only if trying again can help', () => {
  for (const action of ['build', 'test', 'deploy'] as const) {
    for (const error of [
      'connection',
      'service',
      'busy',
      'refused',
      'not-built',
      'tenant-suspended',
      'too-many-plugins',
      'storage-full',
      'storage-unavailable',
    ] as const) {
      assert.equal(actionErrorAdvice(action, error)?.again, true, error);
    }
    for (const error of ['session', 'forbidden', 'too-large'] as const) {
      assert.equal(actionErrorAdvice(action, error)?.again, false, error);
    }
    for (const error of ['stopped', 'not-saved'] as const) {
      assert.equal(actionErrorAdvice(action, error), undefined, error);
    }
    // A notice about the failed save says it of the others.
    for (const error of ['conflict', 'deleted'] as const)
      assert.equal(actionErrorAdvice(action, error) !== undefined, action === 'deploy', error);
  }
});

test('a refusal is said with the words of the service, and only a draft that is not built is to be built again', () => {
  const textOf = (error: 'refused' | 'not-built', detail?: string) =>
    actionErrorAdvice('deploy', error, detail)?.text;
  assert.equal(
    textOf('refused', 'The message is too long.'),
    'The service refused the deployment. The service says: “The message is too long.”',
  );
  assert.equal(textOf('refused'), 'The service refused the deployment.');
  assert.match(textOf('not-built') ?? '', /built again first/);
});
