import { PluginEditorError } from '../core/errors.ts';
import { pause } from '../core/time-limit.ts';

/** How long the editor may take to save before a change is made, in ms. */
const SAVE_TIME = 2000;

/** How long until an editor that saved and still has unsaved work is asked again, in ms. */
const SAVE_INTERVAL = 100;

export interface UnsavedWorkHost {
  /** Whether leaving the page asks the user first. */
  isGuarded(): boolean;
  canSave(): boolean;
  /** Asks the editor to save; rejects when it did not in that many ms. */
  save(timeout: number): Promise<void>;
  /** Whether anything still waits for the work to be saved. */
  isAwaited(): boolean;
  /** Asks the page whether the work may go; `error` says why it was not saved. */
  confirmDiscard(error?: PluginEditorError): boolean;
}

/** Knows whether the editor holds unsaved work, and sees to it that such work is saved or given up before it is discarded. */
export class UnsavedWork {
  dirty = false;

  #host: UnsavedWorkHost;
  #release: Promise<boolean> | undefined;

  constructor(host: UnsavedWorkHost) {
    this.#host = host;
  }

  /** Whether the editor is being asked to save so that something else can go on. */
  get isReleasing(): boolean {
    return !!this.#release;
  }

  set(dirty: boolean): void {
    this.dirty = dirty;
    // A permanent listener would keep some browsers from putting the page into the back-forward cache.
    if (dirty) addEventListener('beforeunload', this.#ask);
    else removeEventListener('beforeunload', this.#ask);
  }

  #ask = (event: Event): void => {
    if (this.#host.isGuarded()) event.preventDefault();
  };

  /**
   * Whether the work may go: at once, unless an editor that can is asked to save first. All that wait at the same time
   * share one answer.
   */
  release(saveFirst: boolean): boolean | Promise<boolean> {
    if (!this.dirty) return true;
    if (!saveFirst || !this.#host.canSave()) return this.#host.confirmDiscard();
    return (this.#release ??= this.#saveOrConfirm());
  }

  async #saveOrConfirm(): Promise<boolean> {
    const error = await this.#save();
    this.#release = undefined;
    return !this.dirty || (this.#host.isAwaited() && this.#host.confirmDiscard(error));
  }

  /** Has the editor save until nothing is unsaved; resolves with the reason where that fails. */
  async #save(): Promise<PluginEditorError | undefined> {
    const end = performance.now() + SAVE_TIME;
    for (let left = SAVE_TIME; left > 0; left = end - performance.now()) {
      try {
        await this.#host.save(left);
      } catch (error) {
        return error as PluginEditorError;
      }
      if (!this.dirty || !this.#host.isAwaited()) return undefined;
      await pause(SAVE_INTERVAL);
    }
    return new PluginEditorError('editor', 'The editor saved, and has unsaved work again');
  }
}
