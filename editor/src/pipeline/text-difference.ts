import { type TemplateResult, html, nothing } from 'lit/html.js';
import { LightElement, define } from '../ui/light-element.ts';
import { loadPart } from '../ui/load-part.ts';

type DifferenceView = typeof import('./difference-view.ts').differenceView;

/** What is not the same in two texts. The part that compares is loaded when it is first wanted. */
export class TextDifference extends LightElement {
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
    // Without it both texts are there to read all the same.
    const part = await loadPart(() => import('./difference-view.ts')).catch(() => undefined);
    this.view = part?.differenceView;
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
