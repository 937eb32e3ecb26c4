import { type TemplateResult, html, nothing } from 'lit/html.js';
import { LightElement, define } from '../ui/light-element.ts';
import { loadModule } from '../ui/lazy-module.ts';

type DifferenceView = typeof import('./difference-view.ts').differenceView;

/** The difference between two texts. The code that compares them is loaded with the first one that is shown. */
class TextDifference extends LightElement {
  static override properties = {
    was: { attribute: false },
    is: { attribute: false },
    label: { attribute: false },
    view: { state: true },
  };

  declare was: string;
  declare is: string;
  /** Its accessible name. */
  declare label: string;
  declare protected view: DifferenceView | undefined;

  constructor() {
    super();
    this.was = this.is = this.label = '';
    this.view = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  async #load(): Promise<void> {
    // Where it cannot be loaded, the user can still read both texts.
    const module = await loadModule(() => import('./difference-view.ts')).catch(() => undefined);
    this.view = module?.differenceView;
  }

  protected override render(): TemplateResult | typeof nothing {
    return this.view ? html`${this.view(this.was, this.is, this.label)}` : nothing;
  }
}

define('text-difference', TextDifference);

declare global {
  interface HTMLElementTagNameMap {
    'text-difference': TextDifference;
  }
}
