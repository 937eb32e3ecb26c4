import type { EditorSettings, EditorSettingsChange } from '../core/messages.ts';
import { AppearanceReader } from './appearance.ts';
import { localeOf, watchLocale } from './locale.ts';

/** The element that the settings are read from. */
export interface SettingsHost extends HTMLElement {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly locale: string | null;
  readonly readOnly: boolean;
}

/** All settings as they are now. */
type Present = { [Name in keyof EditorSettings]-?: EditorSettings[Name] | undefined };

/** Settings by name, each as JSON, so that they can be compared. */
type Snapshot = Record<string, string>;

const snapshotOf = (settings: Present): Snapshot =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value ?? null)]));

/** What the page asks of an editor beside the plugin: reads it, and knows what the editor was told of it. */
export class SettingsSync {
  #host: SettingsHost;
  #appearance: AppearanceReader;
  #onChange: () => void;
  #stopWatching: (() => void) | undefined;
  /** What the editor was told last. */
  #told: Snapshot = {};
  /** What waits for unsaved work, together with the change that it was set with. */
  #held: Snapshot = {};

  constructor(host: SettingsHost, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
    this.#appearance = new AppearanceReader(host, onChange);
  }

  #read(): Present {
    const { locale, readOnly } = this.#host;
    return { locale: localeOf(this.#host, locale), readOnly, appearance: this.#appearance.read() };
  }

  /** Watches for changes around the element, which may have been moved. */
  watch(): void {
    this.unwatch();
    this.#stopWatching = watchLocale(this.#host, this.#onChange);
  }

  unwatch(): void {
    this.#stopWatching?.();
  }

  /** All settings, for a plugin that is opened now. What is off or unset is left out. */
  open(): EditorSettings {
    const settings = this.#read();
    this.#told = snapshotOf(settings);
    this.#held = {};
    return Object.fromEntries(Object.entries(settings).filter(([, value]) => value));
  }

  /** Lets what the editor was not told yet wait, as it was set together with a change that waits. */
  hold(): void {
    const now = Object.entries(snapshotOf(this.#read()));
    this.#held = Object.fromEntries(now.filter(([name, value]) => value !== this.#told[name]));
  }

  /** Lets nothing wait any longer. */
  release(): void {
    this.#held = {};
  }

  /** What the editor has not been told and need not wait; from now on it counts as told. */
  takeChanges(): EditorSettingsChange | undefined {
    const settings = this.#read();
    const now = snapshotOf(settings);
    const changed = (Object.keys(now) as (keyof EditorSettings)[]).filter(
      (name) => now[name] !== this.#told[name] && now[name] !== this.#held[name],
    );
    if (!changed.length) return undefined;
    for (const name of changed) this.#told[name] = now[name] as string;
    return Object.fromEntries(changed.map((name) => [name, settings[name] ?? null]));
  }
}
