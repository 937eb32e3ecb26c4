import type { PluginSource } from 'plugin-editor/client.js';
import { formatDateTime } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { LocalCopies, LocalCopy } from './local-copies.ts';
import type { Notices } from '../ui/notices.ts';
import { sameWork } from '../plugin/source.ts';

export interface RecoveryOptions {
  copies: LocalCopies;
  notices: Notices;
  /** The source in the editor, if one is open yet. */
  current: () => PluginSource | undefined;
  /** Whether a copy may replace the source in the editor now, and be saved. */
  canRestore: () => boolean;
  /** Replaces the source in the editor by a copy, saves it, and removes the copy. `former` was restored before. */
  restore: (copy: LocalCopy, former: PluginSource | undefined) => void;
}

const NOTICE = 'recovery';

/**
 * Offers what this browser kept of a plugin, one copy after the other, newest first. It may be started only once the
 * service accepted a token for that plugin. Nothing is restored or saved before the user asks for it.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  #waiting: LocalCopy[] = [];
  #restored: PluginSource | undefined;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /**
   * @param orphans the copies of pages that are gone, newest first
   * @param present what the service has; `undefined` where it has nothing yet
   */
  start(orphans: readonly LocalCopy[], present: PluginSource | undefined): void {
    const { copies } = this.#options;
    for (const copy of orphans) {
      // It was saved, but its page went away before it learned that.
      if (present && sameWork(copy.source, present)) copies.remove(copy.key);
      else this.#waiting.push(copy);
    }
    this.#next();
  }

  #next(): void {
    const { notices } = this.#options;
    const copy = this.#waiting.shift();
    if (!copy) return notices.hide(NOTICE);
    this.#offer(copy);
  }

  #offer(copy: LocalCopy): void {
    const { current, canRestore, notices } = this.#options;
    notices.show(NOTICE, () => {
      const { common, recovery } = texts();
      const restore = { label: common.restore, run: () => this.#restore(copy), primary: true };
      const compare = { label: common.compare, run: () => void this.#compare(copy) };
      return {
        tone: 'note',
        text: recovery[copy.isReplaced ? 'offerReplaced' : 'offer'](formatDateTime(copy.at)),
        actions: [
          ...(canRestore() ? [restore] : []),
          ...(current() ? [compare] : []),
          { label: common.discard, run: () => this.#discard(copy) },
        ],
      };
    });
  }

  async #compare(copy: LocalCopy): Promise<void> {
    const { current, canRestore, notices } = this.#options;
    const present = current();
    if (!present) return;
    const { common, recovery } = texts();
    const module = await notices.loadModule(() => import('./compare-dialog.ts'));
    const choice = await module?.showCompareDialog<'restore' | 'discard'>({
      title: copy.isReplaced ? recovery.titleReplaced : recovery.title,
      text: recovery.kept(formatDateTime(copy.at)),
      versions: [
        { label: recovery.now, source: present },
        { label: recovery.copy, source: copy.source },
      ],
      choices: [
        ...(canRestore() ? [{ label: common.restore, value: 'restore' as const, primary: true }] : []),
        { label: common.discard, value: 'discard' },
      ],
    });
    if (choice === 'restore') this.#restore(copy);
    if (choice === 'discard') this.#discard(copy);
  }

  #restore(copy: LocalCopy): void {
    const { canRestore, restore } = this.#options;
    // What may be done can have changed while the dialog was open. The copy is to be kept then.
    if (!canRestore()) return;
    // The next offer comes first, so that the way back from this one is in view before it.
    this.#next();
    restore(copy, this.#restored);
    this.#restored = copy.source;
  }

  #discard(copy: LocalCopy): void {
    const { copies, notices } = this.#options;
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
