import { PluginEditorError } from '../core/errors.ts';
import { pause } from '../core/time-limit.ts';

/** How long the editor may take to save before a change is made, in ms. */
const SAVE_TIME = 2000;

/** How long until an editor that saved and still has unsaved work is asked again, in ms. */
const SAVE_INTERVAL = 100;

export interface UnsavedWorkHost {
  /** Whether the user is asked before the page is left. */
  isGuarded(): boolean;
  /** Whether the editor can be asked to save. */
  canSave(): boolean;
  /** Asks the editor to save; rejects when it could not, or did not reply within `timeout` ms. */
  save(timeout: number): Promise<void>;
  /** Whether a change or a reload still waits for the work to be released. */
  hasPending(): boolean;
  /** Asks the page whether the work may be discarded; `error` says why it was not saved. */
  confirmDiscard(error?: PluginEditorError): boolean;
}

/** Knows whether the editor holds unsaved work, and has it saved, or asks the page, before anything discards it. */
export class UnsavedWork {
  dirty = false;

  #host: UnsavedWorkHost;
  /** What all calls of `release` wait for while the editor is asked to save. */
  #release: Promise<boolean> | undefined;

  constructor(host: UnsavedWorkHost) {
    this.#host = host;
  }

  /** Whether a call of `release` has asked the editor to save, and waits for the result. */
  get isReleasing(): boolean {
    return !!this.#release;
  }

  setDirty(dirty: boolean): void {
    this.dirty = dirty;
    // A permanent listener would keep some browsers from putting the page into the back-forward cache.
    if (dirty) addEventListener('beforeunload', this.#handleBeforeUnload);
    else removeEventListener('beforeunload', this.#handleBeforeUnload);
  }

  /** Has the browser ask the user. */
  #handleBeforeUnload = (event: Event): void => {
    if (this.#host.isGuarded()) event.preventDefault();
  };

  /**
   * Returns whether nothing is unsaved any longer or the page lets it be discarded. The result is there at once unless
   * `saveFirst` is set and the editor can be asked to save.
   */
  release(saveFirst: boolean): boolean | Promise<boolean> {
    if (!this.dirty) return true;
    if (!saveFirst || !this.#host.canSave()) return this.#host.confirmDiscard();
    return (this.#release ??= this.#saveOrConfirm());
  }

  async #saveOrConfirm(): Promise<boolean> {
    const error = await this.#save();
    this.#release = undefined;
    return !this.dirty || (this.#host.hasPending() && this.#host.confirmDiscard(error));
  }

  /** Asks the editor to save until nothing is unsaved; resolves with the error where that fails. */
  async #save(): Promise<PluginEditorError | undefined> {
    const end = performance.now() + SAVE_TIME;
    for (let left = SAVE_TIME; left > 0; left = end - performance.now()) {
      try {
        await this.#host.save(left);
      } catch (error) {
        return error as PluginEditorError;
      }
      if (!this.dirty || !this.#host.hasPending()) return undefined;
      await pause(SAVE_INTERVAL);
    }
    return new PluginEditorError('editor', 'The editor saved, and has unsaved work again');
  }
}
