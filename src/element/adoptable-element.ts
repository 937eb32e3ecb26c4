import { type CSSResultOrNative, LitElement } from 'lit';

/**
 * An element that keeps its styles in whichever document a page puts it, such as that of a frame or a picture-in-picture
 * window. A constructed style sheet belongs to one document: a shadow root loses it on the way to another, and one that is
 * made there cannot take it.
 */
export abstract class AdoptableElement extends LitElement {
  /** @internal */
  adoptedCallback(): void {
    if (this.shadowRoot) this.#adoptStyles(this.shadowRoot);
  }

  protected override createRenderRoot(): HTMLElement | DocumentFragment {
    if (this.ownerDocument === document) return super.createRenderRoot();
    const { shadowRootOptions } = this.constructor as typeof LitElement;
    return this.#adoptStyles(this.shadowRoot ?? this.attachShadow(shadowRootOptions));
  }

  #adoptStyles(root: ShadowRoot): ShadowRoot {
    const view = this.ownerDocument.defaultView;
    // A document without a window, such as one that was parsed, shows nothing.
    if (view) {
      const { elementStyles } = this.constructor as typeof LitElement;
      root.adoptedStyleSheets = elementStyles.map((style) => {
        const sheet = new view.CSSStyleSheet();
        sheet.replaceSync(textOf(style));
        return sheet;
      });
    }
    return root;
  }
}

/**
 * The source of a style. A subclass may have style sheets that Lit did not make, which browsers only serialise: a longhand
 * that overrides a shorthand with `var()` is lost there.
 */
const textOf = (style: CSSResultOrNative): string =>
  'cssText' in style ? style.cssText : Array.from(style.cssRules, ({ cssText }) => cssText).join('');
