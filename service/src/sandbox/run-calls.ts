import * as z from 'zod';
import { decodeParcel } from './parcel.ts';
import type { CallLimits } from './protocol.ts';
import { longestUrl } from './script/guest-calls.ts';
import type { Arrival } from './script/script-run.ts';

/** A request of a plugin, as it asked for it. */
export interface GuestRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

export interface GuestResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

/** The response to a call, or why there is none. */
export type CallResult =
  | { readonly response: GuestResponse }
  | { readonly error: { readonly code: string; readonly message: string } };

/** Counts bytes until the returned function is called. Throws where they are too many. */
export type HoldBytes = (bytes: number) => () => void;

/** Makes the calls of one run. */
export interface Caller {
  /** `hold` counts the bytes of a response that is still arriving. */
  call(request: GuestRequest, signal: AbortSignal, hold: HoldBytes): Promise<CallResult>;
}

/** How many calls a run makes at once. A further one waits for one of them. */
const callsAtOnce = 6;

/** How many timers a run sets. */
const maxTimers = 100;

/** Headers of a request: as many, and as many characters in all, as most servers take. */
const maxHeaders = 100;
const maxHeaderText = 32_768;

const head = z
  .tuple([
    z.string().max(longestUrl),
    z.string().max(100),
    z.array(z.tuple([z.string(), z.string()])).max(maxHeaders),
  ])
  .refine(
    ([, , headers]) =>
      headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= maxHeaderText,
  );

const callFrame = z.tuple([z.int(), z.string()]);

/** What a run has called, and what has come of it, while the run is in an engine or waits. The runner is not trusted. */
export class RunCalls {
  readonly #caller: Caller;
  readonly #hold: HoldBytes;
  readonly #abort = new AbortController();
  #left: CallLimits;
  /** The calls and timers that have not ended. */
  readonly #pending = new Map<number, NodeJS.Timeout | undefined>();
  /** The calls that have not begun. `release` ends the count of what they hold. */
  readonly #queue: { readonly start: () => Promise<void>; readonly release: () => void }[] = [];
  #active = 0;
  #arrived: { readonly arrival: Arrival; readonly release: () => void }[] = [];
  #wake: () => void = () => {};
  #hasFailed = false;
  #hasEnded = false;
  readonly #ended: Promise<unknown>[] = [];

  /** `calls`: how many calls the run may make. */
  constructor(caller: Caller, calls: number, hold: HoldBytes) {
    this.#caller = caller;
    this.#left = { calls, timers: maxTimers };
    this.#hold = hold;
  }

  /** How many calls and timers the run may still have. */
  get left(): CallLimits {
    return this.#left;
  }

  /** Whether something has arrived, or will. */
  get hasMore(): boolean {
    return this.#pending.size > 0 || this.#arrived.length > 0;
  }

  /** Whether a request or response did not fit into the memory for waiting runs. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Begins a call. Throws where the run may not make it. */
  call(bytes: Buffer): void {
    const { value, blobs } = decodeParcel(bytes);
    const [id, text] = callFrame.parse(value);
    const { calls, timers } = this.#left;
    if (calls <= 0 || this.#pending.has(id))
      throw new Error('The runner made a call that its run may not make.');
    this.#left = { calls: calls - 1, timers };
    // The run has to end as soon as its turn has.
    if (this.#hasEnded) return;
    const checked = head.safeParse(JSON.parse(text));
    if (!checked.success) {
      this.#arrive({ id, error: { code: 'not-granted', message: tooLong } }, () => {});
      return;
    }
    const [url, method, headers] = checked.data;
    const release = this.#tryHold(bytes.byteLength);
    if (!release) return;
    const [body] = blobs;
    const request = { url, method, headers, ...(body && { body }) };
    this.#pending.set(id, undefined);
    this.#queue.push({ start: () => this.#send(id, request), release });
    this.#startNext();
  }

  startTimer(id: unknown, delay: unknown): void {
    const { calls, timers } = this.#left;
    if (
      !Number.isSafeInteger(id) ||
      typeof delay !== 'number' ||
      timers <= 0 ||
      this.#pending.has(id as number)
    ) {
      throw new Error('The runner set a timer that its run may not set.');
    }
    this.#left = { calls, timers: timers - 1 };
    if (this.#hasEnded) return;
    // Longer ones would end at once; the run ends before them.
    const time = Math.min(delay, 2 ** 31 - 1);
    this.#pending.set(
      id as number,
      setTimeout(() => this.#arrive({ id: id as number }, () => {}), time),
    );
  }

  stopTimer(id: number): void {
    const timer = this.#pending.get(id);
    if (!timer) return;
    clearTimeout(timer);
    this.#pending.delete(id);
  }

  /** Resolves once something has arrived, or failed. */
  waitForArrival(): Promise<void> {
    if (this.#arrived.length || this.#hasFailed) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** What has arrived since the last call of this, in the order in which it came. */
  takeArrivals(): Arrival[] {
    return this.#arrived.splice(0).map(({ arrival, release }) => {
      release();
      return arrival;
    });
  }

  /** Ends all that is pending. Resolves once every call has ended, which is soon. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    if (this.#active > 0) this.#abort.abort(runEnded);
    for (const { release } of this.#queue.splice(0)) release();
    for (const timer of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
    this.takeArrivals();
    await Promise.all(this.#ended);
  }

  #startNext(): void {
    while (this.#active < callsAtOnce) {
      const next = this.#queue.shift();
      if (!next) return;
      this.#active += 1;
      this.#ended.push(next.start().finally(next.release));
    }
  }

  /** Makes a call. Never rejects. */
  async #send(id: number, request: GuestRequest): Promise<void> {
    const arrival = await this.#resultOf(id, request);
    this.#active -= 1;
    if (this.#hasEnded) return;
    const size = 'body' in arrival ? arrival.body.byteLength + JSON.stringify(arrival.head).length : 0;
    const release = this.#tryHold(size);
    if (release) this.#arrive(arrival, release);
    this.#startNext();
  }

  async #resultOf(id: number, request: GuestRequest): Promise<Arrival> {
    try {
      const result = await this.#caller.call(request, this.#abort.signal, (bytes) => this.#holdOrFail(bytes));
      if ('error' in result) return { id, error: result.error };
      const { status, statusText, url, headers, body } = result.response;
      return { id, head: [status, statusText, url, headers], body };
    } catch {
      return { id, error: { code: 'unreachable', message: 'The service could not make the call.' } };
    }
  }

  #arrive(arrival: Arrival, release: () => void): void {
    this.#pending.delete(arrival.id);
    this.#arrived.push({ arrival, release });
    this.#wake();
  }

  #tryHold(bytes: number): (() => void) | undefined {
    try {
      return this.#holdOrFail(bytes);
    } catch {
      return undefined;
    }
  }

  #holdOrFail(bytes: number): () => void {
    try {
      return this.#hold(bytes);
    } catch (error) {
      this.#hasFailed = true;
      this.#wake();
      throw error;
    }
  }
}

// One for all, because an error takes longer to make than to pass on.
const runEnded = new Error('The run has ended.');

const tooLong = `A request has a URL of at most ${longestUrl} characters, and at most ${maxHeaders} headers of ${maxHeaderText} characters in all.`;
