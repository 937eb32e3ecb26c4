import type { NamesWith } from '../core/attributes.ts';
import type { EditorSettings, EditorSettingsChange } from '../core/messages.ts';
import { AppearanceReader } from './appearance.ts';
import { localeOf } from './locale.ts';

/** The element that the settings are read from. */
export interface SettingsHost extends HTMLElement {
  readonly renderRoot: HTMLElement | DocumentFragment;
  readonly locale: string | null;
  readonly readOnly: boolean;
}

/** Settings by name, each as JSON, so that they can be compared. */
type Snapshot = Partial<Record<string, string>>;

/** What the page asks of an editor beside the plugin: reads it, and knows what the editor was told of it. */
export class SettingsSync {
  #host: SettingsHost;
  #appearance: AppearanceReader;
  #onChange: () => void;
  #observer: MutationObserver | undefined;
  /** What the editor was told last. */
  #told: Snapshot = {};
  /** What waits for unsaved work, together with the change that it was set with. */
  #held: Snapshot = {};

  constructor(host: SettingsHost, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
    this.#appearance = new AppearanceReader(host, onChange);
  }

  /** Watches the `lang` attributes around the element, which may have been moved. */
  watch(): void {
    this.unwatch();
    // Not before: there is none on a server.
    this.#observer = new MutationObserver(this.#onChange);
    localeOf(this.#host, null, this.#observer);
  }

  unwatch(): void {
    this.#observer?.disconnect();
  }

  /** The settings that differ from what the editor was told, and need not wait. */
  #changes(): Snapshot {
    const { locale, readOnly } = this.#host;
    // Each attribute whose change is a `configure` is a field of that message.
    const now: Record<NamesWith<'configure'> | keyof EditorSettings, unknown> = {
      locale: localeOf(this.#host, locale) ?? null,
      readOnly,
      appearance: this.#appearance.read(),
    };
    const json = Object.entries(now).map(([name, value]) => [
      name,
      // What could not be read is left out.
      JSON.stringify(value, (_, part: unknown) => (name === 'appearance' ? part || undefined : part)),
    ]) as [string, string][];
    return Object.fromEntries(
      json.filter(([name, value]) => value !== this.#told[name] && value !== this.#held[name]),
    );
  }

  /** All settings, for a plugin that is opened now. What is off or unset is left out. */
  open(): EditorSettings {
    this.#held = {};
    this.#told = { locale: 'null', readOnly: 'false' };
    return this.takeChanges() as EditorSettings;
  }

  /** Lets what the editor was not told yet wait, as it was set together with a change that waits. */
  hold(): void {
    this.#held = { ...this.#held, ...this.#changes() };
  }

  /** Lets nothing wait any longer. */
  release(): void {
    this.#held = {};
  }

  /** What the editor has not been told and need not wait; from now on it counts as told. */
  takeChanges(): EditorSettingsChange {
    const changes = this.#changes();
    Object.assign(this.#told, changes);
    return Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, JSON.parse(value as string) as unknown]),
    );
  }
}
