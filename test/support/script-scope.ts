import { pathFits, type Filter, type Rule, type SeenRequest } from './script-rules.ts';

/** An answer that waits for `release()`. */
interface Held {
  path: string;
  go: () => void;
}

/** One test's rules, the requests that it has seen, and the answers that it holds back. */
export class ScriptScope {
  #rules: { rule: Rule; left: number }[] = [];
  #seen: SeenRequest[] = [];
  #held = new Set<Held>();
  #changed = new Set<() => void>();

  add(rules: Rule[]): void {
    for (const rule of rules) {
      this.#rules.push({ rule, left: rule.times ?? Infinity });
    }
  }

  reset(rules: Rule[]): void {
    this.#rules = [];
    this.add(rules);
  }

  /** Takes the rule that answers this request, and counts it. A `named` one must name the method. */
  take(method: string, path: string, named = false): Rule | undefined {
    const entry = this.#rules.find(
      ({ rule, left }) =>
        left > 0 &&
        pathFits(rule.path, path) &&
        (rule.method === undefined ? !named : rule.method.toUpperCase() === method),
    );
    if (entry) entry.left -= 1;
    return entry?.rule;
  }

  record(request: SeenRequest): void {
    this.#seen.push(request);
    this.#notify();
  }

  markAborted(request: SeenRequest): void {
    request.aborted = true;
    this.#notify();
  }

  /** Resolves as soon as `filter.count` (default 0) fitting requests are there, with all that fit by then. */
  async requests(filter: Filter, kind: (request: SeenRequest) => boolean): Promise<SeenRequest[]> {
    const find = () =>
      this.#seen.filter(
        (request) =>
          kind(request) &&
          (filter.path === undefined || pathFits(filter.path, request.path)) &&
          (filter.method === undefined || filter.method.toUpperCase() === request.method),
      );
    await this.#until(() => find().length >= (filter.count ?? 0));
    return find();
  }

  /** Holds an answer back. Resolves at `release()`, or at once when the client goes away. */
  hold(path: string, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const held: Held = {
        path,
        go: () => {
          this.#held.delete(held);
          resolve();
        },
      };
      this.#held.add(held);
      gone.addEventListener('abort', held.go, { once: true });
      this.#notify();
    });
  }

  /** Waits until an answer is held back, then lets all that fit go. Returns how many those were. */
  async release(path = '*'): Promise<number> {
    const find = () => [...this.#held].filter((held) => pathFits(path, held.path));
    await this.#until(() => find().length > 0);
    const released = find();
    for (const held of released) held.go();
    return released.length;
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => this.#changed.add(resolve));
    }
  }

  #notify(): void {
    const waiting = [...this.#changed];
    this.#changed.clear();
    for (const wake of waiting) wake();
  }
}
