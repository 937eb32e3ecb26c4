/* oxlint-disable typescript/unbound-method -- they are taken off to be replaced, and called with their own `this` */

import { isOurs } from './is-ours.ts';

/** Controls both clocks and the timers of the package. Everything else in the page runs in real time. */
export interface FakeClock {
  /** Advances clocks and timers, which fire in order. The network continues in real time. */
  advance(ms: number): Promise<void>;
  /** Acts as a machine that sleeps: only the wall clock continues, not the monotonic clock and the timers. */
  sleep(ms: number): void;
  /** Sets the wall clock, relative to the real time. */
  setWall(ms: number): void;
  /** How long from now each timer would fire, in ms, the next first. */
  readonly waits: number[];
  /** How far both clocks have advanced, in ms. */
  readonly passed: number;
}

const { now: realDate } = Date;
const { setTimeout: realSet, clearTimeout: realClear } = window;
const realMono = performance.now.bind(performance);

/** Counts timers, whose ids are strings to distinguish them from those of the browser. */
let count = 0;

/** Resolves after pending promises have continued and messages have arrived. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => realSet(resolve));
};

/** Replaces clocks and timers until the end of the test, but not timers without a delay. */
export function fakeClock(): FakeClock {
  let wall = 0;
  let mono = 0;
  const timers = new Map<unknown, { at: number; code: () => void }>();
  const start = { wall: realDate(), mono: realMono() };

  Date.now = () => start.wall + wall;
  performance.now = () => start.mono + mono;
  window.setTimeout = ((code: () => void, ms = 0) => {
    if (!(ms > 0) || !isOurs()) return realSet(code, ms);
    const id = `ours-${++count}`;
    timers.set(id, { at: mono + ms, code });
    return id;
  }) as typeof setTimeout;
  window.clearTimeout = (id) => {
    if (!timers.delete(id)) realClear(id);
  };

  return {
    get waits() {
      return [...timers.values()].map(({ at }) => Math.round(at - mono)).toSorted((a, b) => a - b);
    },
    get passed() {
      return mono;
    },
    sleep: (ms) => void (wall += ms),
    setWall: (ms) => void (wall = ms),
    async advance(ms) {
      const end = mono + ms;
      const goTo = (time: number) => {
        wall += time - mono;
        mono = time;
      };
      for (;;) {
        const [next] = [...timers].filter(([, { at }]) => at <= end).toSorted(([, a], [, b]) => a.at - b.at);
        if (!next) break;
        const [id, { at, code }] = next;
        timers.delete(id);
        goTo(Math.max(at, mono));
        code();
        await settle();
      }
      goTo(end);
      await settle();
    },
  };
}

afterEach(() => {
  Date.now = realDate;
  delete (performance as Partial<Performance>).now;
  Object.assign(window, { setTimeout: realSet, clearTimeout: realClear });
});
