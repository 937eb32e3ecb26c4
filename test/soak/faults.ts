import type { Figure } from '../bench/figures.ts';
import { allCases, nameOf, runCases } from './faults/matrix.ts';

/** Every fault in every step, or those whose names hold the given text. */
export async function measureFaults(only = process.env['FAULT'] ?? ''): Promise<Figure[]> {
  const cases = allCases().filter((faultCase) => nameOf(faultCase).includes(only));
  if (!cases.length) throw new Error(`No fault in any step has a name that holds "${only}".`);
  const { failures, of } = await runCases(cases, 3);
  return [{ name: 'faults not survived', value: failures.length, limit: 0, unit: `of ${of}` }];
}
