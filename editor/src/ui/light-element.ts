import { LitElement } from 'lit';

/** An element that renders without a shadow root, so that the page's style sheets apply. */
export class LightElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

/** Defines an element, once: a test may load the module that does so a second time. */
export function define(name: string, type: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, type);
}
