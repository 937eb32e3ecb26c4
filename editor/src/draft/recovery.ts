import type { PluginSource } from 'plugin-editor/client.js';
import { formatDateTime } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { LocalCopies, LocalCopy } from './local-copies.ts';
import type { SaveState } from './save-queue.ts';
import type { Notices } from '../ui/notices.ts';
import { sameWork } from '../plugin/source.ts';

/** What is open, as far as a copy may replace it. */
export interface RecoveryWorkspace {
  readonly access: { readonly canWrite: boolean };
  readonly saving: {
    readonly state: SaveState;
    readonly source: PluginSource;
    readonly saved: PluginSource;
    /** Replaces the source, and saves it. The copy `from` is not needed after; `spare` need not be kept. */
    replace: (
      source: PluginSource,
      said: () => string,
      more: { from: string; spare: PluginSource | undefined },
    ) => void;
  };
}

export interface RecoveryOptions {
  session: { readonly copies: LocalCopies; readonly notices: Notices; readonly signal: AbortSignal };
  workspace: () => RecoveryWorkspace | undefined;
  /** Whether the plugin may be written where nothing is open yet. */
  mayWrite: () => boolean;
  /** Opens a plugin that has neither a draft nor a template, and saves it. */
  begin: (source: PluginSource) => void;
}

const NOTICE = 'recovery';

/**
 * Offers what this browser kept of a plugin, one copy after the other, newest first. It may be started only once the
 * service accepted a token for that plugin. Nothing is restored or saved before the user asks for it.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  #waiting: LocalCopy[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /**
   * @param orphans the copies of pages that are gone, newest first
   * @param present what the service has; `undefined` where it has nothing yet
   */
  start(orphans: readonly LocalCopy[], present: PluginSource | undefined): void {
    const { copies } = this.#options.session;
    for (const copy of orphans) {
      // It was saved, but its page went away before it learned that.
      if (present && sameWork(copy.source, present)) copies.remove(copy.key);
      else this.#waiting.push(copy);
    }
    this.#next();
  }

  /** Whether a copy may replace the source in the editor now, and be saved. */
  get #canRestore(): boolean {
    const { session, workspace, mayWrite } = this.#options;
    return !session.signal.aborted && (workspace()?.access.canWrite ?? mayWrite());
  }

  #next(): void {
    const { notices } = this.#options.session;
    const copy = this.#waiting.shift();
    if (!copy) return notices.hide(NOTICE);
    this.#offer(copy);
  }

  #offer(copy: LocalCopy): void {
    const { session, workspace } = this.#options;
    session.notices.show(NOTICE, () => {
      const { common, recovery } = texts();
      const restore = { label: common.restore, run: () => this.#restore(copy), primary: true };
      const compare = { label: common.compare, run: () => void this.#compare(copy) };
      return {
        tone: 'note',
        text: recovery[copy.isReplaced ? 'offerReplaced' : 'offer'](formatDateTime(copy.at)),
        actions: [
          ...(this.#canRestore ? [restore] : []),
          ...(workspace() ? [compare] : []),
          { label: common.discard, run: () => this.#discard(copy) },
        ],
      };
    });
  }

  async #compare(copy: LocalCopy): Promise<void> {
    const { session, workspace } = this.#options;
    const present = workspace()?.saving.source;
    if (!present) return;
    const { common, recovery } = texts();
    const module = await session.notices.loadModule(() => import('./compare-dialog.ts'));
    const choice = await module?.showCompareDialog<'restore' | 'discard'>({
      title: copy.isReplaced ? recovery.titleReplaced : recovery.title,
      text: recovery.kept(formatDateTime(copy.at)),
      versions: [
        { label: recovery.now, source: present },
        { label: recovery.copy, source: copy.source },
      ],
      choices: [
        ...(this.#canRestore ? [{ label: common.restore, value: 'restore' as const, primary: true }] : []),
        { label: common.discard, value: 'discard' },
      ],
    });
    if (choice === 'restore') this.#restore(copy);
    if (choice === 'discard') this.#discard(copy);
  }

  #restore(copy: LocalCopy): void {
    const { session, workspace, begin } = this.#options;
    const { source, key } = copy;
    // What may be done can have changed while the dialog was open. The copy is to be kept then.
    if (!this.#canRestore) return;
    // The next offer comes first, so that the way back from this one is in view before it.
    this.#next();
    const saving = workspace()?.saving;
    if (saving) {
      // A template is there elsewhere.
      const spare = saving.state.kind === 'new' ? saving.saved : undefined;
      saving.replace(source, () => texts().recovery.restored, { from: key, spare });
    } else {
      // It is removed first, because there may not be room for it and for the copy that this page is about to keep.
      session.copies.remove(key);
      begin(source);
    }
  }

  #discard(copy: LocalCopy): void {
    const { copies, notices } = this.#options.session;
    copies.remove(copy.key);
    notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().recovery.discarded,
      actions: [
        {
          label: texts().common.undo,
          run: () => {
            copies.putBack(copy);
            this.#offer(copy);
          },
        },
        { label: texts().common.dismiss, run: () => this.#next() },
      ],
    }));
  }
}
