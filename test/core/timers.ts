/** Timers that the code under test has set and that have neither fired nor been cleared. */
export interface Timers {
  readonly pending: number;
  /** The delays of all timers set so far, in ms, without those of `limit`. */
  readonly waits: number[];
  restore(): void;
}

/** The time limit of the test runner for its commands, in ms. Such timers are ignored. */
const RUNNER_LIMIT = 20_000;

/**
 * Whether Node's HTTP client sets the timer. Its clock counts how often that fires: fired at once, it would run a thousand
 * times too fast, also in later tests, and end their responses as too slow.
 */
const isOfClient = () => !!new Error().stack?.includes('node:internal/deps/undici');

/**
 * Watches `setTimeout` and `clearTimeout`. A timer of exactly `limit` ms, the time limit that the test gave, runs as it
 * is; every other is a wait between two tries: its delay is noted, and it then fires at once, unless `hold` is set.
 */
export function watchTimers({ limit, hold = false }: { limit: number; hold?: boolean }): Timers {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const pending = new Set<unknown>();
  const waits: number[] = [];

  globalThis.setTimeout = ((code: () => void, delay: number) => {
    if (delay === RUNNER_LIMIT || isOfClient()) return set(code, delay);
    if (delay !== limit) waits.push(delay);
    const fire = () => {
      pending.delete(timer);
      code();
    };
    const timer: unknown = set(fire, delay === limit || hold ? delay : 0);
    pending.add(timer);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = ((timer: number) => {
    pending.delete(timer);
    clear(timer);
  }) as typeof clearTimeout;

  return {
    get pending() {
      return pending.size;
    },
    waits,
    restore: () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }),
  };
}

/** The delay of a timer that is held back, in ms. */
export const HELD = 2 ** 31 - 1;

/**
 * Holds back the timers of `delay` ms until `Timers.restore`, and returns what fires the latest. On a busy machine a real one
 * could end before the request has reached the server.
 */
export function holdTimer(delay: number): () => void {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  let fire: (() => void) | undefined;
  globalThis.setTimeout = ((code: () => void, each: number) => {
    if (each !== delay) return set(code, each);
    // It can be cleared as any other, and does not fire by itself.
    const timer = set(code, HELD);
    fire = () => {
      clear(timer);
      code();
    };
    return timer;
  }) as typeof setTimeout;
  return () => {
    if (!fire) throw new Error(`No timer of ${delay} ms has been set.`);
    fire();
  };
}
