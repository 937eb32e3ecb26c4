/* oxlint-disable typescript/unbound-method -- they are taken off to be replaced, and called with their own `this` */

/** The package's own timers and both clocks, in the hand of the test; all else in the page goes on in real time. */
export interface FakeClock {
  /** Lets time pass for clocks and timers; timers fire in their order. The network goes on in real time meanwhile. */
  advance(ms: number): Promise<void>;
  /** As a machine asleep: the wall clock goes on, the monotonic one and timers stand still. */
  sleep(ms: number): void;
  /** Somebody sets the wall clock. */
  setWall(ms: number): void;
  /** How long from now each timer would fire, in ms, the next first. */
  readonly waits: number[];
  /** By how much both clocks went on since the start. */
  readonly passed: number;
}

const { now: realDate } = Date;
const { setTimeout: realSet, clearTimeout: realClear } = window;
const realMono = performance.now.bind(performance);

const isOurs = () => /\/src\/(core|element)\//.test(new Error().stack ?? '');

/** Ids of our timers are strings, so that they are never taken for the browser's. */
let count = 0;

/** Lets promises that wait for each other go on, and messages that are on their way come in. */
export const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => realSet(resolve));
};

/** Until the end of the test. A timer without a delay is the browser's own, as it only puts something off. */
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
