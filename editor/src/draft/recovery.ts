import type { PluginSource } from 'plugin-editor/client.js';
import type { LocalCopies, LocalCopy } from './local-copies.ts';
import { loadPartOrNotify } from '../ui/load-part.ts';
import type { Notices } from '../ui/notices.ts';
import { sameWork } from '../plugin/source.ts';

export interface RecoveryOptions {
  copies: LocalCopies;
  notices: Notices;
  /** What the editor shows, if it shows anything yet. */
  current: () => PluginSource | undefined;
  /** Takes a copy as the plugin's text. */
  restore: (source: PluginSource) => void;
}

const NOTICE = 'recovery';

/**
 * Offers what this browser kept of a plugin and could not save, one copy after the other, newest first. To be started
 * only once the builder accepted a token for that plugin; nothing is restored or saved unasked.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  #waiting: LocalCopy[] = [];

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** `present` is what the builder has. */
  async start(present: PluginSource | undefined, signal: AbortSignal): Promise<void> {
    const { copies } = this.#options;
    const left = await copies.left();
    if (signal.aborted) return;
    for (const copy of left) {
      // Saved after all: the page went away before it heard.
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
    const { current, notices } = this.#options;
    const compare = { label: 'Compare', run: () => void this.#compare(copy) };
    notices.show(NOTICE, {
      tone: 'note',
      text: `This browser kept changes to this plugin that were not saved (${when(copy.at)}). Restore them, or discard them?`,
      actions: [
        { label: 'Restore', run: () => this.#restore(copy), primary: true },
        ...(current() ? [compare] : []),
        { label: 'Discard', run: () => this.#discard(copy) },
      ],
    });
  }

  async #compare(copy: LocalCopy): Promise<void> {
    const { current, notices } = this.#options;
    const present = current();
    if (!present) return;
    const part = await loadPartOrNotify(notices, () => import('./compare-dialog.ts'));
    const choice = await part?.compare({
      title: 'Changes that were not saved',
      text: `This browser kept them on ${when(copy.at)}.`,
      versions: [
        { label: 'In the editor now', source: present },
        { label: 'Kept in this browser', source: copy.source },
      ],
      choices: [
        { label: 'Restore', value: 'restore', primary: true },
        { label: 'Discard', value: 'discard' },
      ],
    });
    if (choice === 'restore') this.#restore(copy);
    if (choice === 'discard') this.#discard(copy);
  }

  #restore(copy: LocalCopy): void {
    const { copies, restore } = this.#options;
    // First out, then in: there may not be room for both. The page keeps its own as soon as it has the text.
    copies.remove(copy.key);
    restore(copy.source);
    this.#next();
  }

  #discard(copy: LocalCopy): void {
    const { copies, notices } = this.#options;
    copies.remove(copy.key);
    notices.show(NOTICE, {
      tone: 'note',
      text: 'The changes were discarded.',
      actions: [
        {
          label: 'Undo',
          run: () => {
            copies.putBack(copy);
            this.#offer(copy);
          },
        },
        { label: 'Dismiss', run: () => this.#next() },
      ],
    });
  }
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const when = (date: Date): string => format.format(date);
