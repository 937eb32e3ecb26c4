import { pathMatches, type Filter, type Rule, type SeenRequest } from './scripted-server-rules.ts';

/** What a test can have its scope do. See `ScriptedServer` for the meaning of each. */
export type ScopeCommands = Pick<ScriptedServerScope, 'on' | 'reset' | 'requests' | 'aborted' | 'release'>;

/** A response that waits for `release()`. */
interface Held {
  path: string;
  go: () => void;
}

/** Calls back when the client disconnects, or at once if it has, such as while its request was being read. */
export function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}

/** One test's rules, the requests that it has seen, and the responses that it holds back. */
export class ScriptedServerScope {
  #rules: { rule: Rule; left: number }[] = [];
  #seen: SeenRequest[] = [];
  #held = new Set<Held>();
  #changed = Promise.withResolvers<void>();

  async on(...rules: Rule[]): Promise<void> {
    this.#rules.push(...rules.map((rule) => ({ rule, left: rule.times ?? Infinity })));
  }

  async reset(...rules: Rule[]): Promise<void> {
    this.#rules = [];
    await this.on(...rules);
  }

  requests(filter: number | Filter = {}): Promise<SeenRequest[]> {
    return this.#find(typeof filter === 'number' ? { count: filter } : filter, () => true);
  }

  aborted(filter: number | Filter = {}): Promise<SeenRequest[]> {
    const expected = typeof filter === 'number' ? { count: filter } : { count: 1, ...filter };
    return this.#find(expected, ({ aborted }) => aborted);
  }

  async release(path = '*'): Promise<number> {
    const find = () => [...this.#held].filter((held) => pathMatches(path, held.path));
    await this.#until(() => find().length > 0);
    const released = find();
    for (const held of released) held.go();
    return released.length;
  }

  /** Takes the rule that answers a request, and counts it. A preflight needs one that names its method. */
  take(method: string, path: string, isPreflight: boolean): Rule | undefined {
    const entry = this.#rules.find(
      ({ rule, left }) =>
        left > 0 &&
        pathMatches(rule.path, path) &&
        (rule.method === undefined ? !isPreflight : rule.method.toUpperCase() === method),
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

  /** Holds a response back. Resolves at `release()`, or at once when the client disconnects. */
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
      onAbort(gone, held.go);
      this.#notify();
    });
  }

  /** Resolves as soon as `count` (default 0) requests match, with all that match by then. */
  async #find(
    { path, method, count = 0 }: Filter,
    isMeant: (request: SeenRequest) => boolean,
  ): Promise<SeenRequest[]> {
    const find = () =>
      this.#seen.filter(
        (request) =>
          isMeant(request) &&
          (path === undefined || pathMatches(path, request.path)) &&
          (method === undefined || method.toUpperCase() === request.method),
      );
    await this.#until(() => find().length >= count);
    return find();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#changed.promise;
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
