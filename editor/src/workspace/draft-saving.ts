import type { PluginSource } from 'plugin-editor/client.js';
import type { LocalCopies } from '../draft/local-copies.ts';
import { SaveQueue, type SaveState } from '../draft/save-queue.ts';
import { failureAdvice, saveStatus } from '../draft/save-status.ts';
import { texts } from '../locales/locale.ts';
import { sameWork } from '../plugin/source.ts';
import { type Draft, DraftConflict, type DraftStore } from '../service/draft-store.ts';
import { loadPartOrNotify } from '../ui/load-part-or-notify.ts';
import type { Notices } from '../ui/notices.ts';

export interface DraftSavingOptions {
  store: DraftStore;
  copies: LocalCopies;
  notices: Notices;
  /** What the service has: the draft, or the template of a plugin that has none. */
  source: PluginSource;
  /** Whether `source` is a draft of the service. */
  exists: boolean;
  canWrite: () => boolean;
  /** The source as it is in the editor. */
  read: () => PluginSource;
  /** Puts a source in place of the one in the editor. */
  replace: (source: PluginSource) => void;
  /** Puts a source in place of the one in the editor, and saves it. */
  restore: (source: PluginSource) => void;
  onState: (state: SaveState) => void;
  onSave: () => void;
  /** The service has a draft for the first time. */
  onCreate: () => void;
  /** Unsaved work appeared, or went. */
  onDirty: (dirty: boolean) => void;
}

const NOTICE = 'save';
const NO_COPIES_NOTICE = 'copies';

/** Saves the draft, keeps a copy of what is not saved, and says in notices what the user has to do about a failure. */
export class DraftSaving {
  readonly queue: SaveQueue<PluginSource>;
  readonly #options: DraftSavingOptions;
  /** Whether this browser holds a copy of what is not saved. */
  #hasCopy = true;
  #isDirty = false;
  /** Whether the service had a draft when that was reported last. */
  #existed: boolean;
  #hasCheckedCopies = false;
  #isClosed = false;

  constructor(options: DraftSavingOptions) {
    const { store, copies, source, exists, read, onSave } = options;
    this.#options = options;
    this.#existed = exists;
    this.queue = new SaveQueue<PluginSource>(
      {
        read,
        isSame: sameWork,
        send: async (value) => {
          await store.save(value);
          onSave();
        },
        keepCopy: (value) => (this.#hasCopy = copies.keep(value)),
        dropCopy: () => copies.drop(),
        onState: (state, error) => this.#handleState(state, error),
      },
      source,
      exists,
    );
  }

  /** Reports the first state. To be called once all that the options act on is in place. */
  start(): void {
    this.#handleState(this.queue.state);
  }

  /** The text or the tests were changed. */
  handleEdit(): void {
    if (this.#options.canWrite()) this.queue.handleEdit();
    this.#reportDirty();
    this.#warnOfNoCopies();
  }

  /** Saves now, because the user asks for it. */
  save(): void {
    if (this.#options.canWrite()) this.queue.flush({ force: true });
  }

  /** Saves now, also a plugin without a draft. @throws Error that says to the user why it could not. */
  async saveNow(): Promise<void> {
    if (!(await this.queue.saveNow())) throw new Error(saveStatus(this.queue.state).text);
  }

  /** The page may go away. */
  prepareToLeave(): void {
    if (this.#options.canWrite()) this.queue.prepareToLeave();
  }

  close(): void {
    this.#isClosed = true;
    this.queue.close();
  }

  /** Where this browser keeps no copies for the page, the user learns of it before there is anything to lose. */
  #warnOfNoCopies(): void {
    const { copies, notices } = this.#options;
    // The check writes to the storage, which is too slow for each key that is pressed.
    if (this.#hasCheckedCopies) return;
    this.#hasCheckedCopies = true;
    if (copies.canKeep()) return;
    notices.show(NO_COPIES_NOTICE, () => ({
      tone: 'note',
      text: texts().save.noCopies,
      actions: [notices.dismiss(NO_COPIES_NOTICE)],
    }));
  }

  #reportDirty(): void {
    const isDirty = this.queue.isUnsaved;
    if (isDirty === this.#isDirty) return;
    this.#isDirty = isDirty;
    this.#options.onDirty(isDirty);
  }

  #handleState(state: SaveState, error?: unknown): void {
    // Once another plugin is open, the page says nothing of this one.
    if (this.#isClosed) return;
    const isCreated = this.queue.exists && !this.#existed;
    this.#existed = this.queue.exists;
    this.#reportDirty();
    this.#options.onState(state);
    if (isCreated) this.#options.onCreate();
    // While another try is under way the advice of the last one still holds.
    if (state.kind !== 'saving') this.#showAdvice(state, error);
  }

  /** Says what the user can do about a failure, if anything. */
  #showAdvice(state: SaveState, error: unknown): void {
    const { notices } = this.#options;
    const advice = () => (state.kind === 'failed' ? failureAdvice(state.failure, this.#hasCopy) : undefined);
    if (advice() === undefined) return notices.hide(NOTICE);
    const theirs = error instanceof DraftConflict ? error.theirs : undefined;
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: advice() ?? '',
      actions: theirs
        ? [
            {
              label: texts().save.compareAndChoose,
              primary: true,
              run: () => void this.#resolveConflict(theirs),
            },
          ]
        : [],
    }));
  }

  async #resolveConflict(theirs: Draft): Promise<void> {
    const { store, notices, read, replace, restore } = this.#options;
    const part = await loadPartOrNotify(notices, () => import('../draft/conflict.ts'));
    const isResolved = await part?.resolveConflict({
      base: this.queue.base,
      mine: read(),
      theirs: theirs.source,
      notices,
      replace,
      restore,
    });
    if (!isResolved) return;
    store.acceptAsBase(theirs);
    this.queue.acceptAsBase(theirs.source);
  }
}
