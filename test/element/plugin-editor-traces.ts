/* oxlint-disable typescript/unbound-method -- they are taken off to be wrapped, and called with their own `this` */

import { isOurs } from './is-ours.ts';

/**
 * What the code of the package leaves behind in the page, found by wrapping the functions that it uses: timers, listeners of
 * `document` and `window`, observers.
 */
export interface Traces {
  timers: Map<unknown, unknown>;
  listeners: Set<string>;
  observers: Set<IntersectionObserver>;
  /** How many of each there were in all, which shows that a test noticed any. */
  ever: { timers: number; listeners: number; observers: number };
}

let restore: (() => void) | undefined;

afterEach(() => restore?.());

/** Records traces until the end of the test. */
export function watchTraces(): Traces {
  const traces: Traces = {
    timers: new Map(),
    listeners: new Set(),
    observers: new Set(),
    ever: { timers: 0, listeners: 0, observers: 0 },
  };
  const { setTimeout, clearTimeout, IntersectionObserver } = window;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  let count = 0;

  window.setTimeout = ((code: () => void, ms?: number) => {
    const id = setTimeout(() => {
      traces.timers.delete(id);
      code();
    }, ms);
    if (isOurs()) {
      traces.timers.set(id, ms);
      traces.ever.timers += 1;
    }
    return id;
  }) as typeof setTimeout;
  window.clearTimeout = (id) => {
    traces.timers.delete(id);
    clearTimeout(id);
  };

  const keys = new WeakMap<object, string>();
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if ((this === document || this === window || this === undefined) && listener && isOurs()) {
      const key = `${type} ${++count}`;
      traces.listeners.add(key);
      traces.ever.listeners += 1;
      keys.set(listener, key);
      const { signal } = Object(options) as AddEventListenerOptions;
      if (signal) addEventListener.call(signal, 'abort', () => traces.listeners.delete(key));
    }
    addEventListener.call(this, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    if (listener) traces.listeners.delete(keys.get(listener) ?? '');
    removeEventListener.call(this, type, listener, options);
  };

  window.IntersectionObserver = class extends IntersectionObserver {
    override observe(target: Element): void {
      traces.observers.add(this);
      traces.ever.observers += 1;
      super.observe(target);
    }
    override disconnect(): void {
      traces.observers.delete(this);
      super.disconnect();
    }
  };

  restore = () => {
    Object.assign(window, { setTimeout, clearTimeout, IntersectionObserver });
    Object.assign(EventTarget.prototype, { addEventListener, removeEventListener });
    restore = undefined;
  };
  return traces;
}

/** The numbers of what is left. */
export const left = ({ timers, listeners, observers }: Traces): Record<string, number> => ({
  timers: timers.size,
  listeners: listeners.size,
  observers: observers.size,
});

export const NOTHING = { timers: 0, listeners: 0, observers: 0 };
