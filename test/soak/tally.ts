/** What the service was right or wrong about, over all users. */
export class Tally {
  readonly counts = new Map<string, number>();
  readonly faults: string[] = [];
  /** How long answers took, in ms, by operation. */
  readonly times = new Map<string, number[]>();

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  time(what: string, ms: number): void {
    const times = this.times.get(what) ?? [];
    times.push(ms);
    this.times.set(what, times);
  }
}
