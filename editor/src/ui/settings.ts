import * as z from 'zod/mini';

const KEY = 'plugin-editor-settings';

/** What is not of the right shape gets the usual value. */
const { catch: fallback } = z;

const settingsSchema = z.object({
  /** Whether long lines wrap. */
  wrap: fallback(z.boolean(), false),
  /** Size of the code, in CSS pixels. */
  fontSize: fallback(z.number().check(z.gte(9), z.lte(32)), 13.5),
  /** Columns of one step of indentation. */
  tabWidth: fallback(z.union([z.literal(2), z.literal(4), z.literal(8)]), 2),
  vim: fallback(z.boolean(), false),
  /** The share of the page that the panels take beside the text, and below it: 0.15 to 0.8. */
  dockWidth: fallback(z.optional(z.number().check(z.gte(0.15), z.lte(0.8))), undefined),
  dockHeight: fallback(z.optional(z.number().check(z.gte(0.15), z.lte(0.8))), undefined),
});

/** How the user wants the editor, for every plugin that is opened in this browser. */
export type Settings = z.output<typeof settingsSchema>;

/** Holds the settings and keeps them in the browser's storage, where the page may use that. */
export class SettingsStore {
  readonly #listeners = new Set<(settings: Settings) => void>();
  #settings: Settings;
  #isKept = true;

  constructor() {
    this.#settings = settingsSchema.parse(this.#read());
    // Another tab changed them.
    addEventListener('storage', ({ key }) => {
      if (key !== KEY) return;
      this.#settings = settingsSchema.parse(this.#read());
      this.#notify();
    });
  }

  get current(): Settings {
    return this.#settings;
  }

  /** Whether the last change outlives the page. */
  get isKept(): boolean {
    return this.#isKept;
  }

  change(change: Partial<Settings>): void {
    this.#settings = settingsSchema.parse({ ...this.#settings, ...change });
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#settings));
      this.#isKept = true;
    } catch {
      this.#isKept = false;
    }
    this.#notify();
  }

  /** Has `listener` called after each change. Answers what ends that. */
  subscribe(listener: (settings: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.#settings);
  }

  #read(): unknown {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
      return typeof value === 'object' && value !== null ? value : {};
    } catch {
      return {};
    }
  }
}

/** The settings of this page. */
export const settings = new SettingsStore();
