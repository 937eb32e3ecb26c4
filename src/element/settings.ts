import type { LitElement } from 'lit';
import type { NamesWith } from '../core/config.ts';
import type { Appearance, EditorSettings, EditorSettingsChange } from '../core/messages.ts';
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
    const { locale, readOnly, assistant } = this.#host;
    // Each attribute whose change is a `configure` is a field of that message: `Pick` takes no other name.
    const now: Record<keyof EditorSettings | keyof Pick<EditorSettings, NamesWith<'configure'>>, unknown> = {
      locale: localeOf(this.#host, locale) ?? null,
      readOnly,
      appearance: this.#appearance.read(),
      assistant: !!assistant,
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
    this.#sent = {};
    const isSet = ([, value]: [string, unknown]) => value !== null && value !== false;
    return Object.fromEntries(Object.entries(this.takeChanges()).filter(isSet));
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

/** Makes the observer report changes of the `lang` attributes that an element's language may come from. */
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

type AppearanceValues = { [Name in keyof Appearance]-?: string | false | undefined };

/** A list of font families without any character that could end a declaration. Any other value is not sent. */
const FAMILIES = /^[\p{L}\p{N} ,"'_-]+$/u;

const cssVariable = (name: string) => `var(--plugin-editor-${name})`;

/**
 * Reads how the page looks: the `--plugin-editor-*` properties as the element computes them. The value of a custom property
 * is unparsed text, so each is applied to a hidden probe in the shadow root, and what the browser made of it is read from there.
 */
export class AppearanceReader {
  #host: LitElement;
  #onChange: () => void;
  #probe: HTMLElement | undefined;

  /**
   * @param onChange called when a value may have changed: when a transition of the box around the probe starts (styles.ts).
   * None starts while the element is not displayed; its size, which is observed, too, changes when it is shown again
   */
  constructor(host: LitElement, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
  }

  /** Reads all values in the form in which they are sent. What could not be read is `false` or `undefined`. */
  read(): AppearanceValues {
    const border = this.#style('border', cssVariable('border'));
    const hasBorder = border.borderTopStyle !== 'none' && parseFloat(border.borderTopWidth) > 0;
    // The computed style is live, so it has to be read before the probe gets its next style.
    const borderColor = hasBorder && this.#rgb(border.borderTopColor);
    const { fontFamily } = this.#style('font', cssVariable('font'));
    const font = FAMILIES.test(fontFamily) && fontFamily;
    // The fallback is not in px, so that an unset property differs from a radius of 0.
    const { borderTopLeftRadius: radius } = this.#style('border-radius', 'var(--plugin-editor-radius,1%)');
    return {
      radius: /^[\d.]+px$/.test(radius) && radius,
      font,
      border: borderColor,
      accent: this.#rgb(cssVariable('accent')),
      background: this.#rgb(cssVariable('background')),
      color: this.#rgb(cssVariable('color')),
      colorScheme: this.#rgb('light-dark(#fff,#000)') === 'rgb(0, 0, 0)' ? 'dark' : 'light',
    };
  }

  /** Gives the probe this declaration and no other, and returns its computed style. */
  #style(name: string, value: string): CSSStyleDeclaration {
    if (!this.#probe) {
      const box = document.createElement('div');
      this.#probe = box.appendChild(document.createElement('i'));
      box.className = 'look';
      box.addEventListener('transitionrun', this.#onChange);
      new ResizeObserver(this.#onChange).observe(this.#host);
      // It goes before what Lit renders, because Lit's first rendering removes what follows its start marker.
      this.#host.renderRoot.prepend(box);
    }
    this.#probe.style.cssText = `${name}:${value}`;
    return getComputedStyle(this.#probe);
  }

  /** Returns a colour as `rgb(r, g, b)`, or `undefined` for a value that is not an opaque colour. */
  #rgb(color: string): string | undefined {
    const { backgroundColor } = this.#style('background-color', `color-mix(in srgb,${color},${color})`);
    // A translucent colour has a fourth number after a slash, and so does not match.
    const channels = /^color\(srgb ([^/]+)\)$/.exec(backgroundColor)?.[1]?.split(' ');
    // The array rounds, clamps the channels of colours outside of sRGB, and makes a missing channel (`none`) 0.
    return channels && `rgb(${Uint8ClampedArray.from(channels, (channel) => +channel * 255).join(', ')})`;
  }
}
