import { type Draft, HttpError, type PluginSource } from 'plugin-editor/client.js';
import { SaveQueue, type SaveState } from '../draft/save-queue.ts';
import { failureAdvice } from '../draft/save-status.ts';
import { texts } from '../locales/locale.ts';
import type { PipelineDraft } from '../pipeline/pipeline.ts';
import { Emitter } from '../plugin/emitter.ts';
import { sameWork } from '../plugin/source.ts';
import { DraftConflict } from '../service/draft-errors.ts';
import { type Failure, isTransient, refusalDetail } from '../service/failure.ts';
import type { Notice } from '../ui/notices.ts';
import type { Access } from './access.ts';
import type { PluginDocument } from './plugin-document.ts';
import type { PluginSession } from './plugin-session.ts';

const NOTICE = 'save';
const NO_COPIES_NOTICE = 'copies';
const REPLACED_NOTICE = 'replaced';

export interface ChangeOptions {
  /** The key of the copy that the new source is from. It is not needed after. */
  from?: string | undefined;
  /** A source that need not be kept, because it is there elsewhere. */
  spare?: PluginSource | undefined;
}

export interface DraftSavingEvents {
  /** How far saving is changed. */
  state: SaveState;
  /** The service has a draft, and had none before. */
  create: void;
  /** The draft was deleted elsewhere. */
  delete: void;
  /** The draft that was saved elsewhere is in the editor now. */
  takeOver: void;
}

/** Saves the draft, keeps a copy of what is not saved, and says in notices what the user has to do about a failure. */
export class DraftSaving extends Emitter<DraftSavingEvents> implements PipelineDraft {
  readonly #session: PluginSession;
  readonly #access: Access;
  readonly #document: PluginDocument;
  readonly #queue: SaveQueue<PluginSource>;
  #isDirty = false;
  /** Whether the service had a draft when that was reported last. */
  #existed: boolean;
  #hasCheckedCopies = false;
  /** The failure that the user is advised about. */
  #advised: Failure | undefined;

  /** @param exists whether the document is a draft of the service, and not what a new plugin begins with */
  constructor(session: PluginSession, access: Access, document: PluginDocument, exists: boolean) {
    super();
    this.#session = session;
    this.#access = access;
    this.#document = document;
    this.#existed = exists;
    const { store, copies, host, signal } = session;
    this.#queue = new SaveQueue<PluginSource>({
      read: () => document.source,
      isSame: sameWork,
      send: async (value) => {
        await store.save(value);
        host.save?.();
      },
      copies,
      base: document.source,
      exists,
    });
    this.#queue.on('state', ({ state, error }) => this.#handleState(state, error));
    signal.addEventListener('abort', () => this.#queue.close());
  }

  /** How far saving is. */
  get state(): SaveState {
    return this.#queue.state;
  }

  /** Whether the service has a draft. */
  get exists(): boolean {
    return this.#queue.exists;
  }

  /** Whether there is work that the service does not have. */
  get isUnsaved(): boolean {
    return this.#queue.isUnsaved;
  }

  /** The source as it is in the editor. */
  get source(): PluginSource {
    return this.#document.source;
  }

  /** The source as it was saved last. */
  get saved(): PluginSource {
    return this.#queue.base;
  }

  /** The entity tag of the draft, as far as this page knows it. */
  get etag(): string | undefined {
    return this.#session.store.etag;
  }

  /** Reports the first state. To be called once all listeners are in place. */
  start(): void {
    this.#handleState(this.#queue.state);
  }

  /** The text or the tests were changed. */
  handleEdit(): void {
    if (this.#access.canWrite) this.#queue.handleEdit();
    this.#reportDirty();
    this.#warnOfNoCopies();
  }

  /** Saves now, because the user asks for it. */
  save(): void {
    if (this.#access.canWrite) this.#queue.flush({ force: true });
  }

  /** Saves now, also a plugin without a draft. Resolves with whether the service has it. */
  saveNow(): Promise<boolean> {
    return this.#queue.saveNow();
  }

  /** Saves what is not saved, before the page around the editor forbids changes. */
  flush(): void {
    this.#queue.flush();
  }

  /** Replaces the source in the editor, because the user asks for it, and saves it; does nothing where nothing may be changed. */
  restore(source: PluginSource): void {
    if (!this.#access.canWrite) return;
    this.#document.replace(source);
    this.prepareToLeave();
  }

  /** Replaces the source in the editor, and saves it, with the way back of `change`. */
  replace(source: PluginSource, said: () => string, more?: ChangeOptions): void {
    this.change(() => this.restore(source), said, more);
  }

  /**
   * Changes the source in a way that undo in the text may not take back, such as to another language. This browser keeps the
   * former source, and a notice brings it back.
   * @param said says what was done
   */
  change(change: () => void, said: () => string, { from, spare }: ChangeOptions = {}): void {
    if (!this.#access.canWrite) return;
    const { copies, notices } = this.#session;
    const former = this.source;
    const key = spare && sameWork(former, spare) ? undefined : copies.keepAside(former);
    change();
    const { lang, contents } = this.source;
    const isText = lang !== former.lang || contents !== former.contents;
    // From now on it is saved as any text is.
    if (from !== undefined && copies.isKept) copies.remove(from);
    notices.show(REPLACED_NOTICE, () => {
      const words = () => texts().recovery[isText ? 'formerText' : 'formerTests'];
      const { bringBack, kept } = words();
      const run = () => {
        // Where only tests were changed, the text may have been edited since.
        const source = isText ? former : { ...this.source, tests: former.tests ?? [] };
        this.replace(source, () => words().isBack, { from: key, spare });
      };
      return {
        tone: 'note',
        text: key === undefined ? said() : `${said()} ${kept}`,
        actions: [
          ...(this.#access.canWrite ? [{ label: bringBack, run }] : []),
          notices.dismiss(REPLACED_NOTICE),
        ],
      };
    });
  }

  /** The page may go away, or goes (`isUrgent`): keeps a copy of what is not saved, and saves it while it can. */
  prepareToLeave(isUrgent = false): void {
    if (this.#access.canWrite) this.#queue.prepareToLeave(isUrgent);
  }

  /** The connection or the token is new: tries again what may have failed for the lack of it. */
  resume(): void {
    this.#queue.resume();
  }

  /** The service answers again. After another failure it may have said when to try again. */
  handleOnline(): void {
    if (this.state.kind === 'failed' && this.state.failure === 'connection') this.#queue.flush();
  }

  /** Resolves once nothing is being sent, and no save is held. */
  whenIdle(): Promise<void> {
    return this.#queue.whenIdle();
  }

  holdDuring<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.holdDuring(work, 'action');
  }

  replaceBy<T extends { etag?: string | undefined }>(
    source: PluginSource,
    request: () => Promise<T>,
  ): Promise<T> {
    const { store } = this.#session;
    return this.#queue.holdDuring(async () => {
      store.addUnconfirmed(source);
      const answer = await request();
      if (answer.etag) store.confirm(answer.etag);
      return answer;
    }, 'draft');
  }

  /** Where another page saved or deleted the draft meanwhile, saving finds out what, and lets the user choose. */
  handleRefusal(error: unknown): void {
    const isOther = error instanceof HttpError && (error.status === 412 || error.code === 'draft-not-found');
    if (!isOther) return;
    if (this.#access.canWrite) this.#queue.invalidateBase();
    // An alert, because it comes with one about the request.
    else void this.offerOtherDraft('alert');
  }

  /** Another page saved meanwhile, and nothing here is unsaved: says so, and offers what the service has. */
  async offerOtherDraft(tone: Notice['tone'] = 'note'): Promise<void> {
    const { store, notices, signal } = this.#session;
    const theirs = await store.read(signal).catch(() => undefined);
    // What is unsaved by now is saved soon, which asks the user about a conflict.
    if (!theirs || signal.aborted || this.isUnsaved) return;
    if (theirs.etag === store.etag) return;
    const takeOver = () => {
      if (!sameWork(theirs.source, this.source)) this.#document.replace(theirs.source);
      store.acceptAsBase(theirs);
      this.#queue.acceptAsBase(theirs.source);
      this.emit('takeOver');
    };
    // Saved elsewhere and changed back.
    if (sameWork(theirs.source, this.source)) return takeOver();
    notices.show(NOTICE, () => ({
      tone,
      text: texts().save.changedElsewhere,
      actions: [{ label: texts().save.showSaved, primary: true, run: takeOver }],
    }));
  }

  /** Where this browser keeps no copies for the page, the user learns of it before there is anything to lose. */
  #warnOfNoCopies(): void {
    const { copies, notices } = this.#session;
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
    const isDirty = this.isUnsaved;
    if (isDirty === this.#isDirty) return;
    this.#isDirty = isDirty;
    this.#session.host.dirty?.(isDirty);
  }

  #handleState(state: SaveState, error?: unknown): void {
    // Once another plugin is open, the page says nothing of this one.
    if (this.#session.signal.aborted) return;
    const existed = this.#existed;
    this.#existed = this.exists;
    this.#reportDirty();
    this.emit('state', state);
    if (this.exists !== existed) this.emit(existed ? 'delete' : 'create');
    // During another try the advice of the last one still holds.
    if (state.kind !== 'saving') this.#showAdvice(state, error);
  }

  /** Says what the user can do about a failure, if anything. */
  #showAdvice(state: SaveState, error: unknown): void {
    const { notices, copies } = this.#session;
    const failure = state.kind === 'failed' ? state.failure : undefined;
    const detail = refusalDetail(error);
    const advice = () => failure && failureAdvice(failure, copies.isKept, detail);
    const isSaid = failure === this.#advised;
    this.#advised = advice() === undefined ? undefined : failure;
    if (!this.#advised) return notices.hide(NOTICE);
    // A screen reader would read it again with each try.
    if (isSaid && isTransient(this.#advised)) return;
    const theirs = error instanceof DraftConflict ? error.theirs : undefined;
    const compare = () => ({
      label: texts().save.compareAndChoose,
      primary: true,
      run: () => theirs && void this.#resolveConflict(theirs),
    });
    const { isDeleted } = this.#queue;
    const saveAsNew = () => ({
      label: texts().save.saveAsNew,
      primary: true,
      run: () => this.#saveAsNew(),
    });
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: advice() ?? '',
      actions: theirs ? [compare()] : isDeleted ? [saveAsNew()] : [],
    }));
  }

  #saveAsNew(): void {
    // The notice stays while the draft is being created.
    if (!this.#queue.isDeleted) return;
    this.#session.store.acceptDeletion();
    this.#queue.acceptDeletion();
  }

  async #resolveConflict(theirs: Draft): Promise<void> {
    const { store, notices } = this.#session;
    const module = await notices.loadModule(() => import('../draft/conflict.ts'));
    const isResolved = await module?.resolveConflict({
      base: this.#queue.base,
      mine: this.source,
      theirs: theirs.source,
      replace: (source, said) => this.replace(source, said),
    });
    // Where the text may not be changed any more, it was not, and must not be saved over theirs.
    if (!isResolved || !this.#access.canWrite) return;
    store.acceptAsBase(theirs);
    this.#queue.acceptAsBase(theirs.source);
  }
}
