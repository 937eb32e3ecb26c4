import { html, nothing } from 'lit';
import type { Features } from '../core/records.ts';
import type { PluginFeaturesStrings } from './strings.ts';

/** What the view shows besides the record. */
export interface FeaturesView {
  strings: PluginFeaturesStrings;
  /** Accessible name of the languages. */
  label: string;
  /** Whether the languages are radio buttons. */
  selectable: boolean;
  required: boolean;
  disabled: boolean;
  /** Whether no other language than the chosen one can be chosen. */
  locked: boolean;
  /** The chosen `identifier`. */
  value: string;
  onInput: (event: Event) => void;
  onChange: (event: Event) => void;
}

/** Renders the languages, as a list or as a native radio group, and the features. */
export function renderFeatures({ languages, features }: Features, view: FeaturesView): unknown {
  const { strings, selectable } = view;
  const items = languages.map(({ identifier, pretty, short }) => {
    const names = html`<span part="name">${pretty}</span> <span part="short">${short}</span>`;
    return selectable
      ? html`<li role="none">
          <label part="language"
            ><input
              type="radio"
              name="language"
              .value=${identifier}
              ?disabled=${view.disabled || (view.locked && identifier !== view.value)}
              @input=${view.onInput}
              @change=${view.onChange}
            />${names}</label
          >
        </li>`
      : html`<li part="language">${names}</li>`;
  });
  // Safari drops the list semantics of a list without bullets unless it has the role.
  return html`
    ${
      items.length
        ? html`<ul
            part="list"
            role=${selectable ? 'radiogroup' : 'list'}
            aria-label=${view.label}
            aria-required=${selectable ? view.required : nothing}
            aria-readonly=${view.locked || nothing}
          >
            ${items}
          </ul>`
        : html`<slot name="empty"><p>${strings.empty}</p></slot>`
    }
    ${
      features.length
        ? html`<ul role="list" aria-label=${strings.features}>
            ${features.map((name) => html`<li part="feature">${strings[`feature-${name}`] ?? name}</li>`)}
          </ul>`
        : nothing
    }
  `;
}
