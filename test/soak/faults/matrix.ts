import assert from 'node:assert/strict';
import type { Figure } from '../../bench/figures.ts';
import { resetConnection } from '../../support/reset-connection.ts';
import { ELSEWHERE, FAULTS, type Fault, RETRY_AFTER } from './kinds.ts';
import type { FaultProxy } from './proxy.ts';
import { type LoggedOutcome, type Step, openingSteps, renewal } from './steps.ts';
import { Visit } from './visit.ts';
import { workSteps } from './work-steps.ts';
import { type Lane, type World, openLane, startWorld } from './world.ts';

export interface FaultCase {
  step: Step;
  fault: Fault;
}

export const STEPS: readonly Step[] = [...openingSteps, ...workSteps, renewal];

export const allCases = (): FaultCase[] => STEPS.flatMap((step) => FAULTS.map((fault) => ({ step, fault })));

export const nameOf = ({ step, fault }: FaultCase): string => `${step.name}: ${fault.name}`;

/** What is not one server's answer: the whole of it, or the browser, is cut off, and tries that come by come to nothing. */
async function startFault(visit: Visit, step: Step, proxy: FaultProxy): Promise<void> {
  const { fault, fn, lane } = visit;
  const hits = step.hits(fn);
  if (fault.handle) proxy.aim(hits, fault.handle);
  else if (fault.whole === 'refused') await proxy.refuse();
  else if (fault.whole === 'offline' && !step.follows) await visit.page.setOfflineMode(true);
  else if (fault.whole === 'offline') {
    proxy.aim(hits, async ({ req }) => {
      await visit.page.setOfflineMode(true);
      resetConnection(req.socket);
    });
  } else {
    // In the midst of the request, as far as the service has come with it.
    proxy.aim(hits, async ({ nth, req, pass }) => {
      if (nth > 1) return pass();
      const passed = pass();
      await lane.world.kill();
      await passed;
      req.socket.destroy();
    });
  }
}

async function endFault(visit: Visit, proxy: FaultProxy): Promise<void> {
  await proxy.lift();
  if (visit.fault.whole === 'offline') await visit.page.setOfflineMode(false);
  if (visit.fault.whole === 'killed') await visit.lane.world.restart();
}

/** What is asked again is asked later, and not before the server wanted it. */
function checkPauses({ fault }: Visit, step: Step, times: readonly number[]): void {
  // The head of a response may come before the connection breaks: one that says that the draft is another is no fault, and
  // has the editor look at the draft and save at once.
  if (step.name === 'save' && fault.name === 'reset midway') return;
  const pauses = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  const longestPause = fault.name === '429 with Retry-After' ? RETRY_AFTER * 1000 : step.pause;
  // A timer may fire a moment early by another clock.
  for (const pause of pauses)
    assert.ok(pause > longestPause - 20, `Asked again after ${pause} ms, not ${longestPause}`);
}

/** A whole server or the browser cut off, other steps suffer first. */
const outcomeOf = ({ step, fault }: FaultCase): LoggedOutcome => {
  const outcome = step.outcome(fault.effect);
  if (step.name !== 'frame load' || (fault.whole !== 'offline' && fault.whole !== 'killed')) return outcome;
  return { ...outcome, code: 'token-network', message: /no connection to the server/ };
};

/** One fault in one step, from a page that is well to one that is well again. */
export async function runCase(lane: Lane, faultCase: FaultCase, fn: string): Promise<void> {
  const { step, fault } = faultCase;
  const proxy = lane.proxies[step.to];
  const outcome = outcomeOf(faultCase);
  const hits = step.hits(fn);
  const visit = await Visit.begin(lane, fault, fn);
  try {
    await step.prepare(visit);
    const before = visit.sent(hits);
    const timesBefore = visit.times(hits).length;
    const seen = proxy.paths.length;
    await startFault(visit, step, proxy);
    await step.act(visit);
    await step.check(visit, outcome);
    const times = visit.times(hits).slice(timesBefore);
    if (outcome.requests !== undefined) assert.equal(visit.sent(hits) - before, outcome.requests, 'requests');
    if ((outcome.requests ?? 1) > 1) assert.equal(times.length, outcome.requests, 'requests with a time');
    checkPauses(visit, step, times);
    assert.ok(
      step.name === 'frame load' || !proxy.paths.slice(seen).includes(ELSEWHERE),
      'A redirect was followed',
    );
    await endFault(visit, proxy);
    await step.recover(visit, outcome);
    await visit.checkSaved();
  } catch (error) {
    await endFault(visit, proxy).catch(() => {});
    throw error;
  } finally {
    await visit.end();
  }
}

export interface Survey {
  of: number;
  failures: { faultCase: string; error: Error }[];
}

/** Runs cases, several at a time; what kills the server comes last, and alone. */
export async function runCases(cases: readonly FaultCase[], lanes: number): Promise<Survey> {
  const result: Survey = { of: cases.length, failures: [] };
  const together = cases.filter(({ fault }) => fault.whole !== 'killed');
  const alone = cases.filter((faultCase) => !together.includes(faultCase));
  let count = 0;
  const world: World = await startWorld();
  const opened: Lane[] = [];
  const runLane = async (lane: Lane, waiting: FaultCase[]) => {
    for (let faultCase; (faultCase = waiting.shift());) {
      const started = performance.now();
      try {
        await runCase(lane, faultCase, `f${++count}`);
        if (process.env['VERBOSE'])
          console.log(`  ${nameOf(faultCase)} ${Math.round(performance.now() - started)} ms`);
      } catch (error) {
        result.failures.push({ faultCase: nameOf(faultCase), error: error as Error });
        console.log(`  FAILED ${nameOf(faultCase)}: ${(error as Error).stack}`);
      }
    }
  };
  try {
    for (let i = 0; i < lanes; i++) opened.push(await openLane(world));
    await Promise.all(opened.map((lane) => runLane(lane, together)));
    if (opened[0]) await runLane(opened[0], alone);
  } finally {
    await Promise.all(opened.map((lane) => lane.close()));
    await world.close();
  }
  console.log(`${result.of - result.failures.length} faults survived of ${result.of}`);
  return result;
}

/** Every fault in every step, or those whose names hold the text of the variable FAULT. */
export async function measureFaults(only = process.env['FAULT'] ?? ''): Promise<Figure[]> {
  const cases = allCases().filter((faultCase) => nameOf(faultCase).includes(only));
  if (!cases.length) throw new Error(`No fault in any step has a name that holds "${only}".`);
  const { failures, of } = await runCases(cases, 3);
  return [{ name: 'faults not survived', value: failures.length, limit: 0, unit: `of ${of}` }];
}
