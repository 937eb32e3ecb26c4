import type { Engine } from './engine.ts';

/** By how much the clocks may differ, in ms. */
const tolerance = 5000;

/** Says that the clocks of this machine and of the database differ by more than some seconds; `undefined` if they do not. */
export async function describeClockDifference(engine: Engine): Promise<string | undefined> {
  const before = Date.now();
  const there = await engine.now?.();
  if (there === undefined) return undefined;
  // The least that they differ by, however long the answer took.
  const difference = Math.max(before - there, there - Date.now());
  if (!(difference > tolerance)) return undefined;
  const order = before > there ? 'ahead of' : 'behind';
  return `the clock of this machine is ${Math.round(difference / 1000)} s ${order} the database's; synchronise the clocks of all nodes and of the database, because what a node finds expired it deletes for all`;
}
