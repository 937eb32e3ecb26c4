import assert from 'node:assert/strict';
import type { Effect } from './kinds.ts';
import { type LoggedOutcome, RETRY_PAUSE, type Step, matchRequest, openAndType } from './steps.ts';
import type { Visit } from './visit.ts';
import { until } from '../../support/until.ts';

// What is asked for while the editor is open: the element stays as it is, and the editor itself says what is wrong.

const checkEditor = async (visit: Visit, { message }: LoggedOutcome): Promise<void> => {
  if (message) await visit.untilMessage(message);
  const { state, code } = await visit.shown();
  assert.deepEqual({ state, code }, { state: 'ready', code: undefined });
};

const saveStatus: Record<Effect, RegExp> = {
  lost: /Not saved: connection lost, retrying/,
  late: /Not saved: connection lost, retrying/,
  'failed-once': /Not saved: the service has a problem, retrying/,
  failed: /Not saved: the service has a problem, retrying/,
  busy: /Not saved: the service is busy, retrying/,
  unusable: /Not saved: the service has a problem, retrying/,
  redirected: /Not saved: the service has a problem, retrying/,
};

const isSave = matchRequest('POST', (fn) => `draft/[^/]+/default/${fn}`);

/** The first wait of the queue, at its shortest, in ms. */
const FIRST_WAIT = 750;

/** It is asked again and again, and ever more rarely. */
async function checkBackoff(visit: Visit): Promise<void> {
  const times = () => visit.times(isSave(visit.fn));
  await until('three saves', () => times().length >= 3);
  const [first = 0, second = 0, third = 0] = times();
  const [one, two] = [second - first, third - second];
  assert.ok(one >= FIRST_WAIT - 20, `Saved again after ${one} ms`);
  assert.ok(two > one, `Saved again after ${one} ms, and then after ${two} ms`);
}

const save: Step = {
  name: 'save',
  pause: FIRST_WAIT,
  to: 'service',
  hits: isSave,
  prepare: async (visit) => void (await visit.open()),
  act: (visit) => visit.type('at once'),
  outcome: (effect) => ({
    state: 'ready',
    message: saveStatus[effect],
    requests: effect === 'failed-once' || effect === 'busy' ? 2 : undefined,
  }),
  check: async (visit, outcome) => {
    await checkEditor(visit, outcome);
    if (outcome.requests !== undefined) return visit.fact('saved', 'Saved');
    if (visit.fault.name === '500 for ever') await checkBackoff(visit);
    // The save is there for all that the page knows, and when it asks again it may find that out.
    if (visit.fault.isDone) return visit.type('meanwhile');
    const { dirty } = await visit.shown();
    assert.equal(dirty, true, 'Work that is not saved is dirty');
    await visit.type('meanwhile');
    const { contents } = await visit.lane.world.draft(visit.fn).catch(() => ({ contents: '' }));
    assert.ok(!contents.includes('meanwhile'), 'The fault does not keep saves from the service');
  },
  // By itself.
  recover: async (visit) => {
    await visit.fact('saved', 'Saved');
    await visit.type('after');
  },
};

const actionOutcome =
  (what: string, lost: RegExp) =>
  (effect: Effect): LoggedOutcome => {
    if (effect === 'busy')
      return { state: 'ready', message: /service is busy. Trying again in/, requests: 2 };
    const message =
      effect === 'lost' || effect === 'late'
        ? lost
        : new RegExp(`The service has a problem: the ${what} gave no result. Your text is safe`);
    return { state: 'ready', message, requests: 1 };
  };

/**
 * By the button of the message, which goes when the browser is back online, and then by the one for the step; to the end
 * that the step has without a fault.
 */
const again =
  (
    act: (visit: Visit) => Promise<unknown>,
    done: (visit: Visit) => Promise<unknown>,
    retry = (visit: Visit): Promise<unknown> => visit.press('Try again'),
  ): Step['recover'] =>
  async (visit) => {
    if (visit.fault.effect !== 'busy') {
      await (visit.fault.whole === 'offline' ? act(visit) : retry(visit));
      await done(visit);
    }
    await visit.type('after');
  };

const checkAction =
  (done: (visit: Visit) => Promise<unknown>): Step['check'] =>
  async (visit, outcome) => {
    await checkEditor(visit, outcome);
    if (visit.fault.effect === 'busy') await done(visit);
    // Whether a server is gone or only one of its responses makes no difference to what is typed.
    else await visit.type('meanwhile');
  };

const lost = (what: string) =>
  new RegExp(`The connection was lost, so the ${what} gave no result. Your text is safe`);

const built = (visit: Visit) => visit.fact('built', 'Built');

const build: Step = {
  name: 'build stream',
  pause: RETRY_PAUSE,
  to: 'service',
  hits: matchRequest('POST', (fn) => `build/javascript/[^/]+/default/${fn}`),
  prepare: openAndType,
  act: (visit) => visit.build(),
  outcome: actionOutcome('build', lost('build')),
  check: async (visit, outcome) => {
    await checkAction(built)(visit, outcome);
    if (visit.fault.effect !== 'busy') await visit.untilMessage(/Not built: /);
  },
  recover: again((visit) => visit.build(), built),
};

const answered = async (visit: Visit) => {
  const frame = await visit.demo.editorFrame();
  await frame.waitForFunction(() => document.body.innerText.includes('Hi Ada'), { polling: 50 });
};

const test: Step = {
  name: 'test',
  pause: RETRY_PAUSE,
  to: 'service',
  hits: matchRequest('POST', (fn) => `test/[^/]+/default/${fn}`),
  prepare: async (visit) => {
    await openAndType(visit);
    await visit.build();
    await built(visit);
  },
  act: (visit) => visit.press('Test'),
  outcome: actionOutcome('run', lost('run')),
  check: checkAction(answered),
  recover: again((visit) => visit.press('Test'), answered),
};

const deployed = (visit: Visit) => visit.fact('deployed', 'v1.0.');

const deploy: Step = {
  name: 'deploy',
  pause: RETRY_PAUSE,
  to: 'service',
  hits: matchRequest('POST', (fn) => `draft/[^/]+/default/${fn}/promote`),
  prepare: test.prepare,
  act: (visit) => visit.deploy(),
  outcome: actionOutcome(
    'deployment',
    /connection was lost before the service answered.*deploying again is safe/,
  ),
  check: async (visit, outcome) => {
    await checkAction(deployed)(visit, outcome);
    // It may be deployed, for all that the page knows, and that is what it says.
    if (visit.fault.effect !== 'busy') await visit.untilMessage(/Perhaps deployed: /);
  },
  recover: again(
    (visit) => visit.deploy(),
    deployed,
    (visit) => visit.deployAgain(),
  ),
};

export const workSteps: readonly Step[] = [save, build, test, deploy];
