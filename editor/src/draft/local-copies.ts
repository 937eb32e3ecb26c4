import * as z from 'zod/mini';
import { type PluginSource, pluginSourceSchema } from 'plugin-editor/client.js';
import type { PluginTarget } from '../plugin/target.ts';

/** A source that was not saved, or that was replaced, as this browser keeps it. */
export interface LocalCopy {
  /** Its key in the storage. */
  key: string;
  source: PluginSource;
  /** When it was kept. */
  at: Date;
  /** Whether it was saved, and then replaced. */
  isReplaced: boolean;
}

const storedSchema = z.object({
  version: z.literal(1),
  at: z.number(),
  source: pluginSourceSchema,
  replaced: z.optional(z.boolean()),
});

const PREFIX = 'plugin-editor:unsaved:';

/** The parts of the browser that are used; tests give their own. */
export interface Browser {
  /** Throws where the page may not use storage. */
  readonly localStorage: Storage;
  readonly navigator: { readonly locks?: LockManager | undefined };
  readonly crypto: Pick<Crypto, 'getRandomValues'>;
}

/**
 * What could not be saved of one plugin, kept in local storage by service, ident, namespace and name. Each page has its
 * own copy, so that two pages that fail at once do not overwrite each other's. The copy of a page that is open in
 * another tab is not offered here, because that page still saves it.
 */
export class LocalCopies {
  readonly #browser: Browser;
  readonly #prefix: string;
  readonly #own: string;
  #release: (() => void) | undefined;
  #isKept = true;

  constructor(builder: string, { ident, namespace, fn }: PluginTarget, browser: Browser = globalThis.window) {
    this.#browser = browser;
    this.#prefix = `${PREFIX}${JSON.stringify([builder, ident, namespace, fn])}:`;
    this.#own = this.#createKey();
    this.#claim();
  }

  /** Whether the browser could keep what it was last told to. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Keeps this page's text. Where the browser cannot, an older copy stays, because it is better than none. */
  keep(source: PluginSource): void {
    this.#isKept = this.#write({ key: this.#own, source, at: new Date(), isReplaced: false });
  }

  /** Keeps a text that is about to be replaced, to be offered when the plugin is opened again. Returns its key, if it could. */
  keepAside(source: PluginSource): string | undefined {
    const key = this.#createKey();
    return this.#write({ key, source, at: new Date(), isReplaced: true }) ? key : undefined;
  }

  /**
   * Whether this browser keeps copies for this page. It does not where it blocks the storage of frames.
   * @param source what there must be room for; without it, for anything
   */
  canKeep(source: PluginSource = { contents: '', lang: '' }): boolean {
    const key = this.keepAside(source);
    if (key !== undefined) this.remove(key);
    return key !== undefined;
  }

  /** Drops this page's copy. */
  drop(): void {
    this.remove(this.#own);
  }

  remove(key: string): void {
    try {
      this.#browser.localStorage.removeItem(key);
    } catch {
      // Where storage is forbidden nothing was kept.
    }
  }

  /** Puts back what `remove` took. Returns whether the browser could. */
  putBack(copy: LocalCopy): boolean {
    return this.#write(copy);
  }

  /** The copies of pages that are gone, newest first. */
  async listOrphans(): Promise<LocalCopy[]> {
    const open = await this.#openPages();
    const copies: LocalCopy[] = [];
    try {
      const { localStorage } = this.#browser;
      for (const key of Object.keys(localStorage)) {
        if (!key.startsWith(this.#prefix) || key === this.#own || open.has(key)) continue;
        const copy = readCopy(key, localStorage.getItem(key));
        if (copy) copies.push(copy);
      }
    } catch {
      return [];
    }
    return copies.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  }

  /** Releases this page's copy, so that other pages offer it. */
  close(): void {
    this.#release?.();
  }

  #createKey(): string {
    const random = this.#browser.crypto.getRandomValues(new Uint32Array(3));
    return this.#prefix + Array.from(random, (part) => part.toString(36)).join('');
  }

  /** Returns `false` where the storage is full or forbidden. */
  #write({ key, source, at, isReplaced }: LocalCopy): boolean {
    const stored = { version: 1, at: at.getTime(), source, ...(isReplaced && { replaced: true }) };
    try {
      this.#browser.localStorage.setItem(key, JSON.stringify(stored));
      return true;
    } catch {
      return false;
    }
  }

  /** Holds a lock with the copy's key as its name while the page lives, by which other pages know that it does. */
  #claim(): void {
    const held = new Promise<void>((resolve) => (this.#release = resolve));
    // Refused where storage is partitioned away; then copies are offered even while their page is open.
    this.#browser.navigator.locks?.request(this.#own, () => held).catch(() => {});
  }

  async #openPages(): Promise<Set<string | undefined>> {
    try {
      const state = await this.#browser.navigator.locks?.query();
      return new Set(state?.held?.map(({ name }) => name));
    } catch {
      return new Set();
    }
  }
}

function readCopy(key: string, value: string | null): LocalCopy | undefined {
  try {
    const { data } = storedSchema.safeParse(JSON.parse(value ?? ''));
    if (!data) return undefined;
    const { source, at, replaced = false } = data;
    return { key, source, at: new Date(at), isReplaced: replaced };
  } catch {
    return undefined;
  }
}
