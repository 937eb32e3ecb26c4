import type { NamesWith } from '../core/attributes.ts';
import type { EditorSettings, EditorSettingsChange } from '../core/messages.ts';
import { AppearanceReader } from './appearance.ts';
import type { PluginEditorElement } from './plugin-editor.ts';

/** Settings by name, each as JSON, so that they can be compared. */
type Snapshot = Partial<Record<string, string>>;

/** Reads the settings that the page has for the editor, and remembers which of them the editor knows. */
export class SettingsSync {
  #host: PluginEditorElement;
  #appearance: AppearanceReader;
  #onChange: () => void;
  #observer: MutationObserver | undefined;
  /** The settings that were sent to the editor last. */
  #sent: Snapshot = {};
  /** Settings that are not to be sent, because they were set together with a change that waits for unsaved work. */
  #deferred: Snapshot = {};

  constructor(host: PluginEditorElement, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
    this.#appearance = new AppearanceReader(host, onChange);
  }

  /** Watches the `lang` attributes around the element, which may have been moved. */
  watch(): void {
    this.unwatch();
    // It is not made in the constructor, because a server has no `MutationObserver`.
    this.#observer = new MutationObserver(this.#onChange);
    observeLang(this.#host, this.#observer);
  }

  unwatch(): void {
    this.#observer?.disconnect();
  }

  /** The settings that differ from what was sent to the editor, without those that are deferred. */
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
      // Values that could not be read are left out.
      JSON.stringify(value, (_, part: unknown) => (name === 'appearance' ? part || undefined : part)),
    ]) as [string, string][];
    return Object.fromEntries(
      json.filter(([name, value]) => value !== this.#sent[name] && value !== this.#deferred[name]),
    );
  }

  /**
   * Returns all settings for a plugin that is opened now, other than those that are off or unset. From then on they count as
   * sent.
   */
  takeAll(): EditorSettings {
    this.#deferred = {};
    this.#sent = { locale: 'null', readOnly: 'false' };
    return this.takeChanges() as EditorSettings;
  }

  /** Keeps the settings that the editor does not know yet from being sent, until the change that they came with is made. */
  defer(): void {
    this.#deferred = { ...this.#deferred, ...this.#changes() };
  }

  /** Lets all settings be sent again. */
  stopDeferring(): void {
    this.#deferred = {};
  }

  /** Returns the settings that are to be sent now. From then on they count as sent. */
  takeChanges(): EditorSettingsChange {
    const changes = this.#changes();
    Object.assign(this.#sent, changes);
    return Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, JSON.parse(value as string) as unknown]),
    );
  }
}

/** The element and its ancestors, across shadow boundaries. */
function ancestorsOf(element: Element): Element[] {
  const ancestors: Element[] = [];
  for (let node: Element | null | undefined = element; node;) {
    ancestors.push(node);
    node = node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host;
  }
  return ancestors;
}

/** Has the observer report changes of the `lang` attributes that an element's language may come from. */
function observeLang(element: Element, observer: MutationObserver): void {
  for (const node of ancestorsOf(element)) observer.observe(node, { attributeFilter: ['lang'] });
}

/**
 * The language of an element as a BCP 47 tag: its `locale` where it has one, else the nearest `lang` attribute. `undefined`
 * where there is none, or where it is no valid tag.
 */
function localeOf(element: Element, locale: string | null): string | undefined {
  const inherited = () =>
    ancestorsOf(element)
      .map((node) => node.getAttribute('lang'))
      .find((lang) => lang !== null);
  const tag = locale || inherited();
  try {
    // The constructor throws for text that is not a tag.
    void new Intl.Locale(tag as string);
    return tag;
  } catch {
    return undefined;
  }
}
