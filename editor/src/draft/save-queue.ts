import { HttpError } from 'plugin-editor/client.js';
import { Emitter } from '../plugin/emitter.ts';
import { type Failure, failureOf, isTransient } from '../service/failure.ts';

/** How far saving is. */
export type SaveState =
  /** Nothing was changed since the draft was loaded. */
  | { kind: 'unchanged' }
  /** The text is a template's: the service has no draft yet, and nothing was changed. */
  | { kind: 'new' }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'saved'; at: Date }
  | { kind: 'failed'; failure: Failure };

export interface SaveQueueOptions<T> {
  /** What there is to save now. */
  read: () => T;
  isSame: (a: T, b: T) => boolean;
  /** Saves once. */
  send: (value: T) => Promise<void>;
  /** Keeps a copy in this browser until the value is saved. */
  copies: { keep: (value: T) => void; drop: () => void };
  /** What the service has; for a new plugin, its template. */
  base: T;
  /** Whether the service has a draft. */
  exists: boolean;
}

export interface SaveQueueEvents {
  /** How far saving is changed; `error` is that of a save that failed. */
  state: { state: SaveState; error?: unknown };
}

/** How long after the last change a save starts, in ms. */
const DEBOUNCE = 1000;
/** A user who types without a pause is saved at this interval, in ms. */
const MAX_WAIT = 10_000;
/** While saving fails: how long after the last change the copy in this browser is updated, in ms. */
const KEEP_AFTER = 300;
/** The waits between tries while a save fails, in ms: the first, and the longest. */
const FIRST_RETRY_WAIT = 1000;
const MAX_RETRY_WAIT = 30_000;

/** The failures that another token, the vendor, or room in the storage can end. */
const ENDED_ELSEWHERE: readonly Failure[] = [
  'session',
  'forbidden',
  'tenant-suspended',
  'too-many-plugins',
  'storage-full',
];
/** The failures that another text can end. */
const ENDED_BY_EDIT: readonly Failure[] = ['refused', 'too-large', 'storage-full'];

/** The failures that the user alone can end, by a choice. */
const ENDED_BY_CHOICE: readonly Failure[] = ['conflict', 'deleted'];

/** What saves wait for: an action, or a request of it that replaces the draft itself. */
type Hold = 'action' | 'draft';

/**
 * Saves a value one second after its last edit, one save at a time. A save that failed for a transient reason is tried again;
 * one that failed for another reason waits for a new token, another edit or the user.
 */
export class SaveQueue<T> extends Emitter<SaveQueueEvents> {
  readonly #options: SaveQueueOptions<T>;
  #state: SaveState;
  /** What the service has, as far as is known; for a new plugin, its template. */
  #base: T;
  #exists: boolean;
  /** False after a save that may or may not have reached the service. */
  #isBaseCertain = true;
  #savedAt: Date | undefined;
  #isSending = false;
  /** Whether another save was asked for during one. */
  #mustSaveAgain = false;
  /** How many tries failed in a row. */
  #failedTries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #keepTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** When the oldest edit was made that is in no save. */
  #changedAt: number | undefined;
  /** What saves wait for, and whether one does. */
  #hold: Hold | undefined;
  #hasHeldSave = false;
  /** How many saves were begun. A waiting promise resolves with the number of the save that ended, `undefined` if it failed. */
  #savesBegun = 0;
  #waiting: ((ended: number | undefined) => void)[] = [];

  constructor(options: SaveQueueOptions<T>) {
    super();
    this.#options = options;
    this.#base = options.base;
    this.#exists = options.exists;
    this.#state = this.#stateAtRest();
  }

  get state(): SaveState {
    return this.#state;
  }

  /** What the service had when this page last knew for sure: in a conflict, what both sides began with. */
  get base(): T {
    return this.#base;
  }

  /** Whether the service has a draft. */
  get exists(): boolean {
    return this.#exists;
  }

  /** Whether something here would be lost with the page. */
  get isUnsaved(): boolean {
    return this.#isSending || !this.#isBaseCertain || !this.#options.isSame(this.#options.read(), this.#base);
  }

  /** The value was edited. */
  handleEdit(): void {
    this.#changedAt ??= Date.now();
    if (this.#state.kind === 'failed') {
      clearTimeout(this.#keepTimer);
      this.#keepTimer = setTimeout(() => this.#updateCopy(), KEEP_AFTER);
      // The edit may have corrected what the service refused.
      if (ENDED_BY_EDIT.includes(this.#state.failure)) this.#scheduleSave();
    } else if (!this.#isSending) {
      this.#scheduleSave();
      if (this.#state.kind !== 'unsaved') this.#setState({ kind: 'unsaved' });
    }
  }

  /**
   * Saves now what is not saved yet. `force`: a new plugin is saved even if it was not edited. `isUrgent`: it waits for no action, which
   * may then be refused.
   */
  flush({ force = false, isUrgent = false } = {}): void {
    if (this.#awaitsChoice) return;
    if (this.#isSending) this.#mustSaveAgain = true;
    else void this.#attempt(force, isUrgent);
  }

  /**
   * Saves now, also a new plugin's text. Resolves with whether the service then has it: with `false` as soon as a save failed that
   * began since, even if the queue will try it again.
   */
  async saveNow(): Promise<boolean> {
    const { read, isSame } = this.#options;
    for (const before = this.#savesBegun; ;) {
      if (!this.#isSending && this.#isBaseCertain && this.#exists && isSame(read(), this.#base)) return true;
      if (this.#awaitsChoice) return false;
      const end = new Promise<number | undefined>((resolve) => this.#waiting.push(resolve));
      // A save that was begun since has what there was to save; another one would begin as it ends.
      if (this.#savesBegun === before) this.flush({ force: true, isUrgent: true });
      const ended = await end;
      if (ended === undefined && this.#savesBegun > before) return false;
      if (ended !== undefined && ended > before && !this.#isSending) return true;
    }
  }

  /** Sends no save while `work` runs, other than urgent ones during an action; sends what was edited meanwhile after it. */
  async holdDuring<R>(work: () => Promise<R>, hold: Hold): Promise<R> {
    const outer = this.#hold;
    this.#hold = hold;
    try {
      return await work();
    } finally {
      this.#hold = outer;
      if (this.#hasHeldSave) this.flush();
      if (!this.#isSending) this.#notifyWaiting(this.#savesBegun);
    }
  }

  /** The service may have something else than `base`. Saves, because only a save finds out what it has. */
  invalidateBase(): void {
    this.#isBaseCertain = false;
    this.flush();
  }

  /** The page may go away, or goes (`isUrgent`): keeps a copy, and saves while it can. */
  prepareToLeave(isUrgent = false): void {
    if (!this.isUnsaved) return;
    this.#options.copies.keep(this.#options.read());
    if (this.#state.kind !== 'failed' || isTransient(this.#state.failure)) this.flush({ isUrgent });
  }

  /** The connection or the token is new, or there is room: tries again what may have failed for the lack of it. */
  resume(): void {
    if (this.#state.kind !== 'failed') return;
    this.#failedTries = 0;
    if (isTransient(this.#state.failure) || ENDED_ELSEWHERE.includes(this.#state.failure)) this.flush();
  }

  /** The user resolved a conflict: the service has `base`, and what is here replaces it where that differs. */
  acceptAsBase(base: T): void {
    this.#base = base;
    this.#exists = true;
    this.#isBaseCertain = true;
    void this.#attempt(false);
  }

  /** Whether the draft was deleted elsewhere, and the user has not had it created anew. */
  get isDeleted(): boolean {
    return this.#state.kind === 'failed' && this.#state.failure === 'deleted';
  }

  /** The user wants the draft, which was deleted, created anew. */
  acceptDeletion(): void {
    if (this.isDeleted) void this.#attempt(true);
  }

  /** Resolves once nothing is being sent, and no save is held. */
  async whenIdle(): Promise<void> {
    while (this.#isSending || this.#hold) await new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all waiting; a save that was sent still comes to its end. */
  close(): void {
    this.#isClosed = true;
    this.#stopTimers();
  }

  get #awaitsChoice(): boolean {
    return this.#state.kind === 'failed' && ENDED_BY_CHOICE.includes(this.#state.failure);
  }

  async #attempt(force: boolean, isUrgent = false): Promise<void> {
    this.#stopTimers();
    const { read, isSame, send, copies } = this.#options;
    const value = read();
    if (this.#isBaseCertain && isSame(value, this.#base) && (this.#exists || !force))
      return this.#handleNothingToSave();
    copies.keep(value);
    this.#hasHeldSave = this.#hold === 'draft' || (!!this.#hold && !isUrgent);
    if (this.#hasHeldSave) return;
    const number = ++this.#savesBegun;
    this.#changedAt = undefined;
    this.#isSending = true;
    this.#mustSaveAgain = false;
    this.#setState({ kind: 'saving' });
    try {
      await send(value);
    } catch (error) {
      this.#isSending = false;
      return this.#handleFailure(error);
    }
    this.#isSending = false;
    this.#base = value;
    this.#exists = true;
    this.#isBaseCertain = true;
    this.#failedTries = 0;
    this.#savedAt = new Date();
    this.#notifyWaiting(number);
    if (isSame(read(), value)) return this.#handleNothingToSave();
    this.#setState({ kind: 'unsaved' });
    if (this.#mustSaveAgain || this.#isClosed) this.flush();
    else this.#scheduleSave();
  }

  #handleFailure(error: unknown): void {
    const failure = failureOf(error);
    if (isTransient(failure) || ENDED_BY_CHOICE.includes(failure)) this.#isBaseCertain = false;
    if (failure === 'deleted') this.#exists = false;
    this.#options.copies.keep(this.#options.read());
    this.#setState({ kind: 'failed', failure }, error);
    this.#notifyWaiting(undefined);
    if (!isTransient(failure) || this.#isClosed) return;
    const backoff =
      Math.min(FIRST_RETRY_WAIT * 2 ** this.#failedTries++, MAX_RETRY_WAIT) * (0.75 + Math.random() / 4);
    const asked = (error instanceof HttpError && error.retryAfter) || 0;
    this.#timer = setTimeout(() => this.flush(), Math.max(backoff, Math.min(asked, MAX_RETRY_WAIT)));
  }

  #notifyWaiting(ended: number | undefined): void {
    for (const resolve of this.#waiting.splice(0)) resolve(ended);
  }

  #handleNothingToSave(): void {
    this.#changedAt = undefined;
    this.#options.copies.drop();
    this.#setState(this.#stateAtRest());
    // An edit that a save waited for may have been undone meanwhile.
    this.#notifyWaiting(this.#savesBegun);
  }

  /** While saving fails, keeps the copy equal to the text, and drops it when nothing is left to save. */
  #updateCopy(): void {
    if (this.isUnsaved) this.#options.copies.keep(this.#options.read());
    else if (this.#state.kind === 'failed') this.#handleNothingToSave();
  }

  #scheduleSave(): void {
    const now = Date.now();
    this.#changedAt ??= now;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.flush(),
      Math.min(DEBOUNCE, Math.max(0, this.#changedAt + MAX_WAIT - now)),
    );
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#keepTimer);
  }

  #stateAtRest(): SaveState {
    if (this.#savedAt) return { kind: 'saved', at: this.#savedAt };
    return { kind: this.#exists ? 'unchanged' : 'new' };
  }

  #setState(state: SaveState, error?: unknown): void {
    this.#state = state;
    this.emit('state', { state, error });
  }
}
