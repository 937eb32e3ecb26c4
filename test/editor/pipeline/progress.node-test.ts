import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BuildState,
  type DeployState,
  buildWords,
  deployWords,
  obstacleAdvice,
} from '../../../editor/src/pipeline/progress.ts';

const at = new Date(2026, 0, 1, 9, 5);
/** As the user's language writes it: `09:05 AM`, `09.05`. */
const nineOhFive = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format(at);

test('the build is said to be of this text only when it is', () => {
  const table: [BuildState, string, string][] = [
    [{ kind: 'none' }, 'Not built since opening', 'calm'],
    [{ kind: 'none', never: true }, 'Not built yet', 'calm'],
    [{ kind: 'building' }, 'Building…', 'busy'],
    [{ kind: 'built', sourceKey: 'now', at }, `Built ${nineOhFive}`, 'good'],
    [{ kind: 'built', sourceKey: 'now' }, 'Built', 'good'],
    [{ kind: 'built', sourceKey: 'before', at }, 'Changed since the build', 'calm'],
    [{ kind: 'failed', sourceKey: 'now', errors: 1 }, 'Build failed: one problem', 'bad'],
    [{ kind: 'failed', sourceKey: 'now', errors: 3 }, 'Build failed: 3 problems', 'bad'],
    [{ kind: 'failed', sourceKey: 'now', errors: 0 }, 'Build failed', 'bad'],
    [{ kind: 'failed', sourceKey: 'before', errors: 3 }, 'Changed since the failed build', 'calm'],
    [{ kind: 'unfinished', obstacle: 'connection' }, 'Not built: connection lost', 'bad'],
    [{ kind: 'unfinished', obstacle: 'stopped' }, 'Not built: stopped', 'calm'],
  ];
  for (const [state, text, tone] of table) {
    const words = buildWords(state, 'now');
    assert.deepEqual(words, { text, tone });
  }
});

test('the deployment is said to be of this text only when it is, and a lost answer is no failure', () => {
  const table: [DeployState, string][] = [
    [{ kind: 'none' }, 'Not deployed since opening'],
    [{ kind: 'none', never: true }, 'Not deployed yet'],
    [{ kind: 'deploying' }, 'Deploying…'],
    [{ kind: 'deployed', sourceKey: 'now', version: 'v1.0.4' }, 'v1.0.4 deployed'],
    [{ kind: 'deployed', sourceKey: 'before', version: 'v1.0.4' }, 'v1.0.4 deployed, draft is newer'],
    [{ kind: 'deployed', version: 'v1.0.4' }, 'v1.0.4 deployed, draft is newer'],
    [{ kind: 'unfinished', obstacle: 'busy' }, 'Not deployed: the service is busy'],
    [{ kind: 'unfinished', obstacle: 'connection' }, 'Perhaps deployed: connection lost'],
    [{ kind: 'unfinished', obstacle: 'service' }, 'Perhaps deployed: the service has a problem'],
  ];
  for (const [state, text] of table) assert.equal(deployWords(state, 'now').text, text);
});

test('every obstacle but one’s own doing has advice, and a button only where trying again can help', () => {
  for (const action of ['build', 'test', 'deploy'] as const) {
    for (const obstacle of ['connection', 'service', 'busy', 'refused'] as const) {
      assert.equal(obstacleAdvice(action, obstacle)?.again, true, obstacle);
    }
    for (const obstacle of ['session', 'forbidden', 'too-large'] as const) {
      assert.equal(obstacleAdvice(action, obstacle)?.again, false, obstacle);
    }
    for (const obstacle of ['stopped', 'not-saved', 'conflict'] as const) {
      assert.equal(obstacleAdvice(action, obstacle), undefined, obstacle);
    }
  }
});
