/** One measured figure and its limit. */
export interface Figure {
  name: string;
  value: number;
  limit: number;
  /** Whether the limit is the most or the least that the value may be (default: the most). */
  bound?: 'at most' | 'at least';
  /** How the number is written: `1.05 ×`, `15.9 KB`. */
  unit: string;
  /** How it came about. */
  note?: string;
}

/** Prints a table; false when a limit is missed. */
export function print(figures: Figure[]): boolean {
  console.log('\nFigures');
  for (const figure of figures) {
    const { name, value, limit, bound = 'at most', unit, note = '' } = figure;
    const verdict = isMet(figure) ? 'ok  ' : 'MISS';
    console.log(`  ${verdict} ${name.padEnd(52)} ${show(value)} ${unit} (${bound} ${show(limit)}) ${note}`);
  }
  return figures.every(isMet);
}

const isMet = ({ value, limit, bound = 'at most' }: Figure) =>
  bound === 'at most' ? value <= limit : value >= limit;

export const show = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(2));

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
