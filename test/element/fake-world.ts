/* oxlint-disable typescript/unbound-method -- they are taken off to be replaced, and called with their own `this` */

import { isOurs } from './is-ours.ts';

/**
 * Everything that `<plugin-editor>` meets outside of itself, in the hand of a test and without a network, so that ten
 * thousand lives of an element take seconds: time, token requests, frames, messages, the viewport.
 */
export interface FakeWorld {
  /** Token and features requests, oldest first. */
  requests: FakeRequest[];
  /** Every frame that was ever made. */
  frames: FakeFrame[];
  /** What the element's code has set and not cleared or used up. */
  readonly left: { timers: number; listeners: number; observers: number };
  /** Lets pending promises continue. */
  settle(): Promise<void>;
  /** Lets time pass. Timers fire in order. */
  advance(ms: number): Promise<void>;
  /** Tells observers that their elements came near the viewport. */
  comeNear(): void;
  restore(): void;
}

export interface FakeRequest {
  url: string;
  init: RequestInit;
  answered: boolean;
  readonly aborted: boolean;
  /** Can be called after the request was aborted, like a response that was already on its way. */
  answer(response: Response): void;
  fail(): void;
}

/** Stands for an `<iframe>`: it loads nothing. */
export interface FakeFrame {
  element: HTMLElement & { src: string };
  /** The source of messages from the page in the frame. */
  window: MessagePort;
  /** The messages that were posted to the frame, with their target origins. */
  posted: { message: Record<string, unknown>; origin: string }[];
}

/** Resolves in a new task, after pending promises have continued. */
const task = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });

export function fakeWorld(): FakeWorld {
  const { fetch, setTimeout, clearTimeout, IntersectionObserver } = window;
  const { createElement } = document;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const { now } = Date;
  const start = { wall: now(), mono: performance.now() };
  let time = 0;
  let count = 0;
  const timers = new Map<unknown, { at: number; code: () => void }>();
  const listeners = new Set<object>();
  const observers = new Map<object, () => void>();
  const requests: FakeRequest[] = [];
  const frames: FakeFrame[] = [];

  Date.now = () => start.wall + time;
  performance.now = () => start.mono + time;
  window.setTimeout = ((code: () => void, ms = 0) => {
    if (!isOurs()) return setTimeout(code, ms);
    const id = `ours-${++count}`;
    // Whole milliseconds, as in browsers, and at least one, so that no timer fires at once.
    timers.set(id, { at: time + (ms > 0 ? Math.max(1, Math.trunc(ms)) : 0), code });
    return id;
  }) as typeof setTimeout;
  window.clearTimeout = (id) => {
    if (!timers.delete(id)) clearTimeout(id);
  };

  window.fetch = (input, init = {}) =>
    new Promise<Response>((resolve, reject) => {
      const { signal } = init;
      const request: FakeRequest = {
        url: input instanceof Request ? input.url : String(input),
        init,
        answered: false,
        get aborted() {
          return !!signal?.aborted;
        },
        answer: (response) => {
          request.answered = true;
          resolve(response);
        },
        fail: () => {
          request.answered = true;
          reject(new TypeError('Failed to fetch'));
        },
      };
      requests.push(request);
    });

  window.IntersectionObserver = class implements Pick<IntersectionObserver, 'observe' | 'disconnect'> {
    #callback: IntersectionObserverCallback;
    constructor(callback: IntersectionObserverCallback) {
      this.#callback = callback;
    }
    observe(): void {
      const entries = [{ isIntersecting: true } as IntersectionObserverEntry];
      observers.set(this, () => this.#callback(entries, this as unknown as IntersectionObserver));
    }
    disconnect(): void {
      observers.delete(this);
    }
  } as unknown as typeof window.IntersectionObserver;

  // An element that loads nothing replaces the frame, the only element that the package creates.
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    if (name !== 'iframe') return createElement.call(document, name, options);
    const element = createElement.call(document, 'div') as FakeFrame['element'];
    const frame: FakeFrame = { element, window: new MessageChannel().port1, posted: [] };
    frame.window.postMessage = ((message: Record<string, unknown>, origin: string) => {
      frame.posted.push({ message, origin });
    }) as unknown as MessagePort['postMessage'];
    Object.defineProperty(element, 'contentWindow', {
      get: () => (element.isConnected ? frame.window : null),
    });
    frames.push(frame);
    return element;
  };

  const keys = new Map<unknown, object>();
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const target = this ?? window;
    const signal = typeof options === 'object' ? options?.signal : undefined;
    if ((target === window || target === document) && listener && !signal?.aborted && isOurs()) {
      const key = { type };
      listeners.add(key);
      keys.set(listener, key);
      if (signal) addEventListener.call(signal, 'abort', () => listeners.delete(key));
    }
    addEventListener.call(target, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    const key = keys.get(listener);
    if (key) listeners.delete(key);
    removeEventListener.call(this ?? window, type, listener, options);
  };

  const goTo = async (end: number) => {
    for (;;) {
      let next: [unknown, { at: number; code: () => void }] | undefined;
      for (const entry of timers)
        if (entry[1].at <= end && !(next && next[1].at <= entry[1].at)) next = entry;
      if (!next) break;
      const [id, { at, code }] = next;
      timers.delete(id);
      time = Math.max(time, at);
      code();
      await task();
    }
    time = end;
  };

  return {
    requests,
    frames,
    get left() {
      return { timers: timers.size, listeners: listeners.size, observers: observers.size };
    },
    async settle() {
      await task();
      // Timers without a delay run in the next task.
      await goTo(time);
    },
    advance: (ms) => goTo(time + ms),
    comeNear: () => {
      for (const callback of observers.values()) callback();
    },
    restore: () => {
      Date.now = now;
      delete (performance as Partial<Performance>).now;
      delete (document as Partial<Document>).createElement;
      Object.assign(window, { fetch, setTimeout, clearTimeout, IntersectionObserver });
      Object.assign(EventTarget.prototype, { addEventListener, removeEventListener });
    },
  };
}

/** Dispatches a message as the browser would when the page in a frame posts it. */
export function dispatchMessageFrom(
  frame: FakeFrame,
  data: unknown,
  origin: string,
  source: MessagePort = frame.window,
): void {
  window.dispatchEvent(new MessageEvent('message', { data, origin, source }));
}
