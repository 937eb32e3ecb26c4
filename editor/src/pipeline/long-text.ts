import { type TemplateResult, html, nothing } from 'lit/html.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { LightElement, define } from '../ui/light-element.ts';

/** The most characters that are shown until the user asks for all: a result may be a megabyte. */
const MAX_SHOWN = 20_000;
/** The most characters that are parsed as JSON. */
const MAX_JSON_LENGTH = 500_000;

/** The input or the output of a plugin, formatted where it is JSON, and cut where it is long. */
class LongText extends LightElement {
  static override properties = {
    text: { attribute: false },
    label: { attribute: false },
    whole: { state: true },
    raw: { state: true },
  };

  declare text: string;
  /** Its accessible name. */
  declare label: string;
  declare protected whole: boolean;
  /** Whether JSON is shown without formatting. */
  declare protected raw: boolean;

  constructor() {
    super();
    this.text = '';
    this.label = '';
    this.whole = false;
    this.raw = false;
  }

  protected override willUpdate(changed: ReadonlyMap<PropertyKey, unknown>): void {
    if (changed.has('text')) this.whole = false;
  }

  protected override render(): TemplateResult {
    const { result } = texts();
    const formatted = formatJson(this.text);
    const text = this.raw ? this.text : (formatted ?? this.text);
    const isCut = text.length > MAX_SHOWN && !this.whole;
    return html`${
        formatted === undefined
          ? nothing
          : html`<button type="button" class="button quiet text-form" @click=${() => (this.raw = !this.raw)}>
              ${this.raw ? result.asJson : result.asText}
            </button>`
      }
      <pre
        class="output"
        dir="ltr"
        tabindex="0"
        role="group"
        aria-label=${this.label}
        .textContent=${isCut ? text.slice(0, MAX_SHOWN) : text}
      ></pre>
      ${
        isCut
          ? html`<button type="button" class="button quiet" @click=${() => this.#showAll()}>
              ${result.showAll(formatNumber(text.length))}
            </button>`
          : nothing
      }`;
  }

  #showAll(): void {
    this.whole = true;
    this.performUpdate();
    this.querySelector('pre')?.focus();
  }
}

/** An object or a list, laid out; `undefined` for anything else, and where that changes nothing. */
function formatJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_JSON_LENGTH) return undefined;
  try {
    const formatted = JSON.stringify(JSON.parse(text), null, 2);
    return formatted === text ? undefined : formatted;
  } catch {
    return undefined;
  }
}

define('long-text', LongText);

declare global {
  interface HTMLElementTagNameMap {
    'long-text': LongText;
  }
}
