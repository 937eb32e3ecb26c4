import { isConfig, readConfig } from '../core/config.ts';
import { PluginEditorError } from '../core/errors.ts';
import { pause } from '../core/time-limit.ts';
import { type ElementState, keyOf } from './element-state.ts';
import { PluginEditorDiscardEvent } from './events.ts';
import type { Launch } from './launch.ts';
import type { PluginEditorElement } from './plugin-editor.ts';

/** How long the editor may take to save before a change is made, in ms. */
const SAVE_TIME = 2000;

/** How long until an editor that saved and still has unsaved work is asked again, in ms. */
const SAVE_INTERVAL = 100;

/** Saves unsaved work, or asks the page, before a change of the attributes or a reload discards it. */
export class UnsavedWork {
  /** What waits until the work is saved or given up. */
  readonly pending = new Set<'change' | 'reload'>();

  #host: PluginEditorElement;
  #shown: ElementState;
  #launch: Launch;
  /** What all calls of `release` wait for while the editor is asked to save. */
  #release: Promise<boolean> | undefined;

  constructor(host: PluginEditorElement, shown: ElementState, launch: Launch) {
    this.#host = host;
    this.#shown = shown;
    this.#launch = launch;
  }

  /** Whether a call of `release` has asked the editor to save, and waits for the result. */
  get isReleasing(): boolean {
    return !!this.#release;
  }

  /**
   * Returns whether nothing is unsaved any longer or the page lets it be discarded. To be called while `dirty`. The result is
   * there at once unless `saveFirst` is set and the editor can be asked to save.
   */
  release(saveFirst: boolean): boolean | Promise<boolean> {
    if (!saveFirst || !this.#launch.connection?.canPost('save')) return this.#confirmDiscard();
    return (this.#release ??= this.#saveOrConfirm());
  }

  async #saveOrConfirm(): Promise<boolean> {
    const error = await this.#save();
    this.#release = undefined;
    return !this.#shown.dirty || (this.pending.size > 0 && this.#confirmDiscard(error));
  }

  /** Asks the page; `error` says why the work was not saved. */
  #confirmDiscard(error?: PluginEditorError): boolean {
    const next = readConfig(this.#host, document.baseURI);
    return this.#host.dispatchEvent(
      new PluginEditorDiscardEvent({
        ...this.#shown.key,
        ...(isConfig(next) && { next: keyOf(next) }),
        ...(error && { error }),
      }),
    );
  }

  /** Asks the editor to save until nothing is unsaved; resolves with the error where that fails. */
  async #save(): Promise<PluginEditorError | undefined> {
    const end = performance.now() + SAVE_TIME;
    const isNeeded = () => this.#shown.dirty && this.pending.size > 0;
    for (let left = SAVE_TIME; left > 0; left = end - performance.now()) {
      try {
        await this.#launch.save(left);
      } catch (error) {
        return error as PluginEditorError;
      }
      if (isNeeded()) await pause(SAVE_INTERVAL);
      // During the pause the editor may have saved by itself, and the next plugin may be open.
      if (!isNeeded()) return undefined;
    }
    return new PluginEditorError('editor', 'The editor saved, and has unsaved work again');
  }
}
