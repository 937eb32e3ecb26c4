/** One measured figure and its limit. */
export interface Figure {
  name: string;
  value: number;
  limit: number;
  /** How the number is written: `1.05 ×`, `15.9 KB`. */
  unit: string;
  /** How it came about. */
  note?: string;
}

/** Prints a table; false when a limit is exceeded. */
export function print(figures: Figure[]): boolean {
  console.log('\nFigures');
  for (const { name, value, limit, unit, note = '' } of figures) {
    const verdict = value <= limit ? 'ok  ' : 'MISS';
    console.log(`  ${verdict} ${name.padEnd(52)} ${show(value)} ${unit} (at most ${show(limit)}) ${note}`);
  }
  return figures.every(({ value, limit }) => value <= limit);
}

export const show = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(2));

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
