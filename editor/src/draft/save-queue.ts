import { HttpError } from 'plugin-editor/client.js';
import { type Failure, failureOf, isPassing } from '../service/failure.ts';

/** What is saved, at this moment. */
export type SaveState =
  /** Nothing was changed since the draft was loaded. */
  | { kind: 'unchanged' }
  /** From a template; the builder has no draft yet, and nothing was changed. */
  | { kind: 'new' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'saved'; at: Date }
  | { kind: 'failed'; failure: Failure };

export interface SaveQueueOptions<T> {
  /** What there is to save now. */
  read: () => T;
  same: (a: T, b: T) => boolean;
  /** Saves once. */
  send: (value: T) => Promise<void>;
  /** Keeps a copy on this machine until it is saved. */
  keep: (value: T) => void;
  /** Drops that copy. */
  drop: () => void;
  onState: (state: SaveState, error?: unknown) => void;
}

/** How long after the last change a save starts, in ms. */
const QUIET = 1000;
/** Whoever types without a pause is saved this often all the same, in ms. */
const LONGEST_WAIT = 10_000;
/** While saving fails: how long after the last change the copy on this machine follows, in ms. */
const KEEP_AFTER = 300;
/** The waits between tries while a save fails, in ms: the first, and the longest. */
const FIRST_RETRY = 1000;
const LONGEST_RETRY = 30_000;

/**
 * Saves by itself: a second after the last change, one save at a time, the newest state always last. What fails in
 * passing is tried again; what fails for good waits for a new token, for another change or for the user.
 */
export class SaveQueue<T> {
  readonly #options: SaveQueueOptions<T>;
  #state: SaveState;
  /** What the builder has, as far as is known; for a new plugin, its template. */
  #base: T;
  #exists: boolean;
  /** Whether `#base` is sure: not after a save whose fate is unknown. */
  #certain = true;
  #savedAt: Date | undefined;
  #sending = false;
  /** Asked to save while a save was under way. */
  #again = false;
  /** Tries that failed in a row. */
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #keepTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** When the oldest change that no save holds was made. */
  #since: number | undefined;
  /** Nothing is sent meanwhile. */
  #held = false;
  #heldBack = false;
  /** How many saves were begun, and who waits for the end of one: its number, or `undefined` when it failed. */
  #begun = 0;
  #waiting: ((ended: number | undefined) => void)[] = [];

  constructor(options: SaveQueueOptions<T>, base: T, exists: boolean) {
    this.#options = options;
    this.#base = base;
    this.#exists = exists;
    this.#state = this.#settled();
  }

  get state(): SaveState {
    return this.#state;
  }

  /** What the builder had when this page last knew for sure: what both sides of a conflict began with. */
  get base(): T {
    return this.#base;
  }

  /** Whether the builder has a draft. */
  get exists(): boolean {
    return this.#exists;
  }

  /** Whether something here would be lost with the page. */
  get unsaved(): boolean {
    return this.#sending || !this.#certain || !this.#options.same(this.#options.read(), this.#base);
  }

  /** Something was changed. */
  changed(): void {
    this.#since ??= Date.now();
    if (this.#state.kind === 'failed') {
      clearTimeout(this.#keepTimer);
      this.#keepTimer = setTimeout(() => this.#keepUp(), KEEP_AFTER);
      // What the service refused may be right now.
      if (this.#state.failure === 'refused' || this.#state.failure === 'too-large') this.#soon();
    } else if (!this.#sending) {
      this.#soon();
      if (this.#state.kind !== 'unsaved') this.#set({ kind: 'unsaved' });
    }
  }

  /** Saves what is not saved yet, now. `force`: a new plugin is saved even unchanged. */
  flush({ force = false } = {}): void {
    if (this.#state.kind === 'failed' && this.#state.failure === 'conflict') return;
    if (this.#sending) this.#again = true;
    else void this.#attempt(force);
  }

  /**
   * Saves what is here now, a new plugin's text too. Answers whether the builder then has it; a save that fails is an
   * answer, also where it will be tried again by itself.
   */
  async saveNow(): Promise<boolean> {
    const { read, same } = this.#options;
    for (const before = this.#begun; ;) {
      if (!this.#sending && this.#certain && this.#exists && same(read(), this.#base)) return true;
      if (this.#state.kind === 'failed' && this.#state.failure === 'conflict') return false;
      const end = new Promise<number | undefined>((resolve) => this.#waiting.push(resolve));
      this.flush({ force: true });
      const ended = await end;
      if (ended === undefined) return false;
      if (ended > before) return true;
    }
  }

  /** Sends nothing while `work` runs, which changes the draft itself; after it, what was changed meanwhile. */
  async holdDuring<R>(work: () => Promise<R>): Promise<R> {
    this.#held = true;
    try {
      return await work();
    } finally {
      this.#held = false;
      if (this.#heldBack) this.flush();
      this.#heldBack = false;
    }
  }

  /** What the builder has is no longer sure: saves, which finds out. */
  doubt(): void {
    this.#certain = false;
    this.flush();
  }

  /** The page may go away: keeps a copy, and saves while it can. */
  leaving(): void {
    if (!this.unsaved) return;
    this.#options.keep(this.#options.read());
    if (this.#state.kind !== 'failed' || isPassing(this.#state.failure)) this.flush();
  }

  /** The connection or the token is new: goes on where that can help. */
  resume(): void {
    if (this.#state.kind !== 'failed') return;
    this.#failures = 0;
    if (isPassing(this.#state.failure) || NEEDS_TOKEN.includes(this.#state.failure)) this.flush();
  }

  /** A conflict is settled: the builder has `base`, and what is here replaces it when it differs. */
  settle(base: T): void {
    this.#base = base;
    this.#exists = true;
    this.#certain = true;
    void this.#attempt(false);
  }

  /** Resolves once nothing is being sent. */
  async ended(): Promise<void> {
    while (this.#sending) await new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waiting; a save that is under way still comes to its end. */
  close(): void {
    this.#closed = true;
    this.#stopTimers();
  }

  async #attempt(force: boolean): Promise<void> {
    this.#stopTimers();
    const { read, same, send, keep } = this.#options;
    const value = read();
    if (this.#certain && same(value, this.#base) && (this.#exists || !force)) return this.#done();
    keep(value);
    if (this.#held) {
      this.#heldBack = true;
      return;
    }
    const number = ++this.#begun;
    this.#since = undefined;
    this.#sending = true;
    this.#again = false;
    this.#set({ kind: 'saving' });
    try {
      await send(value);
    } catch (error) {
      this.#sending = false;
      return this.#failed(error);
    }
    this.#sending = false;
    this.#base = value;
    this.#exists = true;
    this.#certain = true;
    this.#failures = 0;
    this.#savedAt = new Date();
    this.#tell(number);
    if (same(read(), value)) return this.#done();
    this.#set({ kind: 'unsaved' });
    if (this.#again || this.#closed) this.flush();
    else this.#soon();
  }

  #failed(error: unknown): void {
    const failure = failureOf(error);
    if (isPassing(failure) || failure === 'conflict') this.#certain = false;
    this.#options.keep(this.#options.read());
    this.#set({ kind: 'failed', failure }, error);
    this.#tell(undefined);
    if (!isPassing(failure) || this.#closed) return;
    const backoff = Math.min(FIRST_RETRY * 2 ** this.#failures++, LONGEST_RETRY) * (0.75 + Math.random() / 4);
    const asked = (error instanceof HttpError && error.retryAfter) || 0;
    this.#timer = setTimeout(() => this.flush(), Math.max(backoff, Math.min(asked, LONGEST_RETRY)));
  }

  #tell(ended: number | undefined): void {
    for (const tell of this.#waiting.splice(0)) tell(ended);
  }

  #done(): void {
    this.#since = undefined;
    this.#options.drop();
    this.#set(this.#settled());
  }

  /** While saving fails the copy follows the text, and goes when there is nothing left to save. */
  #keepUp(): void {
    if (this.unsaved) this.#options.keep(this.#options.read());
    else if (this.#state.kind === 'failed') this.#done();
  }

  #soon(): void {
    const now = Date.now();
    this.#since ??= now;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.flush(),
      Math.min(QUIET, Math.max(0, this.#since + LONGEST_WAIT - now)),
    );
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#keepTimer);
  }

  #settled(): SaveState {
    if (this.#savedAt) return { kind: 'saved', at: this.#savedAt };
    return { kind: this.#exists ? 'unchanged' : 'new' };
  }

  #set(state: SaveState, error?: unknown): void {
    this.#state = state;
    this.#options.onState(state, error);
  }
}

/** What only another token can mend. */
const NEEDS_TOKEN: readonly Failure[] = ['session', 'forbidden'];
