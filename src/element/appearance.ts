import type { Appearance } from '../core/messages.ts';

/** What the editor is told of the page's look, each by the probe that is styled with it; see styles.ts. */
const PROBES = ['accent', 'background', 'color', 'border', 'font', 'scheme', 'mix'] as const;

/** What a font family may be written with. Anything else is not handed on to another page. */
const FAMILIES = /^[\p{L}\p{N} ,"'_-]+$/u;

/**
 * Reads how the page looks: the `--plugin-editor-*` properties as they come out on the element. A custom property is mere
 * text, so each is applied to a hidden probe in the shadow root, and what the browser made of it is read from there.
 */
export class AppearanceReader {
  #probes: Record<(typeof PROBES)[number], HTMLElement> | undefined;
  #host: { readonly renderRoot: ParentNode };
  #onChange: () => void;

  /** `onChange` is called when a value may have changed, by the transitions that the probes have. */
  constructor(host: { readonly renderRoot: ParentNode }, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
  }

  read(): Appearance {
    this.#probes ??= this.#createProbes();
    const style = (name: (typeof PROBES)[number]) =>
      getComputedStyle((this.#probes as Record<string, Element>)[name] as Element);
    const background = (name: 'accent' | 'background' | 'color') => this.#toRgb(style(name).backgroundColor);
    const { borderTopColor, borderTopStyle, borderTopWidth } = style('border');
    const hasBorder = borderTopStyle !== 'none' && parseFloat(borderTopWidth) > 0;
    const { fontFamily } = style('font');
    const { borderTopLeftRadius } = style('accent');
    const all: { [Name in keyof Appearance]: Appearance[Name] | false | undefined } = {
      colorScheme: this.#toRgb(style('scheme').backgroundColor) === 'rgb(0, 0, 0)' ? 'dark' : 'light',
      accent: background('accent'),
      background: background('background'),
      color: background('color'),
      border: hasBorder && this.#toRgb(borderTopColor),
      font: FAMILIES.test(fontFamily) && fontFamily,
      radius: /^[\d.]+px$/.test(borderTopLeftRadius) && borderTopLeftRadius,
    };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
  }

  /** Any colour that the browser knows as `rgb(r, g, b)`; `undefined` for one that is not opaque. */
  #toRgb(color: string): string | undefined {
    const { mix } = this.#probes as Record<'mix', HTMLElement>;
    mix.style.backgroundColor = `color-mix(in srgb, ${color}, ${color})`;
    // Only what is translucent has a fourth number, after a slash.
    const [, channels] = /^color\(srgb ([^/]+)\)$/.exec(getComputedStyle(mix).backgroundColor) ?? [];
    // Outside of sRGB a channel exceeds 0 to 1.
    return (
      channels &&
      `rgb(${channels
        .split(' ')
        .map((channel) => Math.round(Math.min(Math.max(+channel || 0, 0), 1) * 255))
        .join(', ')})`
    );
  }

  #createProbes(): Record<(typeof PROBES)[number], HTMLElement> {
    const box = document.createElement('div');
    box.className = 'probes';
    box.addEventListener('transitionend', this.#onChange);
    const probes = Object.fromEntries(
      PROBES.map((name) => {
        const probe = document.createElement('i');
        probe.className = name;
        return [name, probe];
      }),
    );
    box.append(...Object.values(probes));
    this.#host.renderRoot.append(box);
    return probes as Record<(typeof PROBES)[number], HTMLElement>;
  }
}
