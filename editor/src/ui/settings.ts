const KEY = 'plugin-editor-settings';

/** The user's settings, for every plugin that is opened in this browser. */
export interface Settings {
  /** Whether long lines wrap. */
  wrap: boolean;
  /** Size of the code, in CSS pixels. */
  fontSize: number;
  /** Columns of one step of indentation. */
  tabWidth: number;
  vim: boolean;
  /** The share of the page that the panels take beside the text, and below it. */
  dockWidth: number | undefined;
  dockHeight: number | undefined;
  /** The languages that pages asked for, and whose notice the user has dismissed. */
  dismissed: readonly unknown[];
}

/** What the settings may be. */
export const FONT_SIZES = { min: 9, max: 32 } as const;
export const TAB_WIDTHS = [2, 4, 8] as const;
export const DOCK_SHARES = { min: 0.15, max: 0.8 } as const;

/** Parses stored settings. A value of another type, or out of its bounds, is replaced by the default. */
function parseSettings(kept: unknown): Settings {
  const { wrap, fontSize, tabWidth, vim, dockWidth, dockHeight, dismissed } = Object(kept) as Record<
    string,
    unknown
  >;
  return {
    wrap: wrap === true,
    fontSize: numberWithin(fontSize, FONT_SIZES) ?? 13.5,
    tabWidth: TAB_WIDTHS.find((width) => width === tabWidth) ?? 2,
    vim: vim === true,
    dockWidth: numberWithin(dockWidth, DOCK_SHARES),
    dockHeight: numberWithin(dockHeight, DOCK_SHARES),
    dismissed: Array.isArray(dismissed) ? dismissed : [],
  };
}

const numberWithin = (value: unknown, { min, max }: { min: number; max: number }): number | undefined =>
  typeof value === 'number' && value >= min && value <= max ? value : undefined;

/** Holds the settings and keeps them in the browser's storage, where the page may use that. */
export class SettingsStore {
  readonly #listeners = new Set<(settings: Settings) => void>();
  #settings: Settings;
  #isKept = true;

  constructor() {
    this.#settings = parseSettings(this.#read());
    // Another tab changed them.
    addEventListener('storage', ({ key }) => {
      if (key !== KEY) return;
      this.#settings = parseSettings(this.#read());
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
    this.#settings = parseSettings({ ...this.#settings, ...change });
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#settings));
      this.#isKept = true;
    } catch {
      this.#isKept = false;
    }
    this.#notify();
  }

  /** Calls `listener` after each change. Returns a function that ends this. */
  subscribe(listener: (settings: Settings) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.#settings);
  }

  #read(): unknown {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? '{}');
    } catch {
      return {};
    }
  }
}

/** The settings of this page. */
export const settings = new SettingsStore();
