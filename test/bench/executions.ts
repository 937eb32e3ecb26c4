import { measureFirstRuns } from './executions/first-run.ts';
import { measureGrowth, measureManyPlugins } from './executions/memory.ts';
import { measureLimits } from './executions/limits.ts';
import { measureNeighbour } from './executions/neighbour.ts';
import { hello, order } from './executions/plugins.ts';
import { measureAgainstWorkerd } from './executions/against-workerd.ts';
import { installTools } from './executions/tools.ts';
import { measureTwoProcesses } from './executions/two-processes.ts';
import type { Figure } from './figures.ts';

const measures: Record<string, () => Promise<Figure | Figure[]>> = {
  hello: () =>
    measureAgainstWorkerd('"Hello", 16 connections, against workerd', hello('hello'), {
      connections: 16,
      atLeast: 0.4,
      ownTime: 0.22,
    }),
  'hello-one': () =>
    measureAgainstWorkerd('"Hello", one connection, against workerd', hello('hello'), {
      connections: 1,
      atLeast: 0.6,
    }),
  order: () =>
    measureAgainstWorkerd('order of 300 lines, 16 connections, against workerd', order(), {
      connections: 16,
      atLeast: 0.17,
    }),
  limits: measureLimits,
  'first-run': measureFirstRuns,
  'many-plugins': measureManyPlugins,
  growth: measureGrowth,
  neighbour: measureNeighbour,
  'two-processes': measureTwoProcesses,
};

/** The names of the figures, each of which can be measured alone. */
export const executionFigures: readonly string[] = Object.keys(measures);

/** Measures running plugins through HTTP, `workerd` being the yardstick: all figures, or the ones named. */
export async function measureExecutions(names: readonly string[] = executionFigures): Promise<Figure[]> {
  await installTools();
  const figures: Figure[] = [];
  for (const name of names) {
    console.log(`\nexecutions:${name}`);
    figures.push(...[(await measures[name]?.()) ?? []].flat());
  }
  return figures;
}
