import type { Appearance } from '../core/messages.ts';

type Values = { [Name in keyof Appearance]-?: string | false | undefined };

/** What a list of font families is written with. Anything else is not handed on to another page. */
const FAMILIES = /^[\p{L}\p{N} ,"'_-]+$/u;

const property = (name: string) => `var(--plugin-editor-${name})`;

/**
 * Reads how the page looks: the `--plugin-editor-*` properties as they come out on the element. A custom property is mere
 * text, so each is applied to a hidden probe in the shadow root, and what the browser made of it is read from there.
 */
export class AppearanceReader {
  #host: { readonly renderRoot: ParentNode };
  #onChange: () => void;
  #probe: HTMLElement | undefined;

  /** `onChange` is called when a value may have changed: the box around the probe has transitions (styles.ts). */
  constructor(host: { readonly renderRoot: ParentNode }, onChange: () => void) {
    this.#host = host;
    this.#onChange = onChange;
  }

  /** All values that could be read, as an editor may take them. */
  read(): Values {
    const border = this.#style('border', property('border'));
    const hasBorder = border.borderTopStyle !== 'none' && parseFloat(border.borderTopWidth) > 0;
    // The style is live, so this is read before the probe is styled with something else.
    const borderColor = hasBorder && this.#rgb(border.borderTopColor);
    const { fontFamily } = this.#style('font', property('font'));
    const font = FAMILIES.test(fontFamily) && fontFamily;
    // A default that is not in px, to be told from a radius of 0.
    const { borderTopLeftRadius: radius } = this.#style('border-radius', 'var(--plugin-editor-radius,1%)');
    return {
      radius: /^[\d.]+px$/.test(radius) && radius,
      font,
      border: borderColor,
      accent: this.#rgb(property('accent')),
      background: this.#rgb(property('background')),
      color: this.#rgb(property('color')),
      colorScheme: this.#rgb('light-dark(#fff,#000)') === 'rgb(0, 0, 0)' ? 'dark' : 'light',
    };
  }

  /** Styles the probe with one declaration alone. */
  #style(name: string, value: string): CSSStyleDeclaration {
    if (!this.#probe) {
      const box = document.createElement('div');
      this.#probe = box.appendChild(document.createElement('i'));
      box.className = 'look';
      box.addEventListener('transitionrun', this.#onChange);
      // Ahead of what the template renders, which clears everything behind its own beginning.
      this.#host.renderRoot.prepend(box);
    }
    this.#probe.style.cssText = `${name}:${value}`;
    return getComputedStyle(this.#probe);
  }

  /** A colour as `rgb(r, g, b)`; `undefined` for what is none, or is not opaque. */
  #rgb(color: string): string | undefined {
    const { backgroundColor } = this.#style('background-color', `color-mix(in srgb,${color},${color})`);
    // A translucent one has a fourth number, after a slash.
    const channels = /^color\(srgb ([^/]+)\)$/.exec(backgroundColor)?.[1]?.split(' ');
    // The array rounds, and clamps what a colour outside of sRGB has beyond 0 and 1. A missing channel, `none`, is 0.
    return channels && `rgb(${Uint8ClampedArray.from(channels, (one) => +one * 255).join(', ')})`;
  }
}
