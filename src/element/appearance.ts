import type { LitElement } from 'lit';
import type { Appearance } from '../core/messages.ts';

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
