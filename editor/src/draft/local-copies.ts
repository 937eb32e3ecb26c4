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

/** How many replaced sources are kept of each page, and of those that are gone; and how long, in ms. */
const MAX_REPLACED = 3;
const MAX_AGE = 30 * 24 * 3_600_000;

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
    this.#own = this.#createKey(this.#prefix);
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
    // It begins with the key of this page, so that it is offered only once the page is gone.
    const key = this.#createKey(this.#own);
    if (!this.#write({ key, source, at: new Date(), isReplaced: true })) return undefined;
    this.#prune(this.#list(this.#own));
    return key;
  }

  /**
   * Whether this browser keeps copies for this page. It does not where it blocks the storage of frames.
   * @param source what there must be room for; without it, for anything
   */
  canKeep(source: PluginSource = { contents: '', lang: '' }): boolean {
    const key = this.#createKey(this.#own);
    const isKept = this.#put({ key, source, at: new Date(), isReplaced: true });
    this.remove(key);
    return isKept;
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
    const isOrphan = ({ key }: LocalCopy) => !open.some((page) => key.startsWith(page));
    return this.#prune(this.#list(this.#prefix).filter(isOrphan));
  }

  /** Releases this page's copy, so that other pages offer it. */
  close(): void {
    this.#release?.();
  }

  #createKey(prefix: string): string {
    const random = this.#browser.crypto.getRandomValues(new Uint32Array(3));
    return prefix + Array.from(random, (part) => part.toString(36)).join('');
  }

  /** The copies whose keys begin with `prefix`, newest first. */
  #list(prefix: string): LocalCopy[] {
    try {
      const { localStorage } = this.#browser;
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
      const copies = keys.flatMap((key) => readCopy(key, localStorage.getItem(key)) ?? []);
      return copies.toSorted((a, b) => b.at.getTime() - a.at.getTime());
    } catch {
      return [];
    }
  }

  /** Removes replaced sources but for the newest. Returns what is left. */
  #prune(copies: readonly LocalCopy[]): LocalCopy[] {
    let count = 0;
    return copies.filter(({ key, at, isReplaced }) => {
      const isLeft = !isReplaced || (++count <= MAX_REPLACED && Date.now() - at.getTime() < MAX_AGE);
      if (!isLeft) this.remove(key);
      return isLeft;
    });
  }

  /** Returns `false` where the storage is full or forbidden. */
  #put({ key, source, at, isReplaced }: LocalCopy): boolean {
    const stored = { version: 1, at: at.getTime(), source, ...(isReplaced && { replaced: true }) };
    try {
      this.#browser.localStorage.setItem(key, JSON.stringify(stored));
      return true;
    } catch {
      return false;
    }
  }

  /** Makes room by removing what other pages replaced, of any plugin. Of its own, this page has said that it is kept. */
  #write(copy: LocalCopy): boolean {
    if (this.#put(copy)) return true;
    const oldest = this.#list(PREFIX).findLast((one) => one.isReplaced && !one.key.startsWith(this.#own));
    if (!oldest) return false;
    this.remove(oldest.key);
    return this.#write(copy);
  }

  /** Holds a lock with the copy's key as its name while the page lives, by which other pages know that it does. */
  #claim(): void {
    const held = new Promise<void>((resolve) => (this.#release = resolve));
    // Refused where storage is partitioned away; then copies are offered even while their page is open.
    this.#browser.navigator.locks?.request(this.#own, () => held).catch(() => {});
  }

  /** The keys of the pages that are open. */
  async #openPages(): Promise<string[]> {
    try {
      const { held = [] } = (await this.#browser.navigator.locks?.query()) ?? {};
      return [this.#own, ...held.flatMap(({ name }) => (name?.startsWith(PREFIX) ? name : []))];
    } catch {
      return [this.#own];
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
