import { css } from 'lit';

// Tints are mixed from the text's own colour, so that the element fits into any page, light or dark. The focus ring is
// for :focus and not :focus-visible, which in WebKit does not match a radio button that was reached by an arrow key.
export const featuresStyles = css`
  :host {
    display: block;
    overflow-wrap: anywhere;
    font: var(--plugin-editor-font, inherit);
    color: var(--plugin-editor-color, inherit);
  }
  :host([hidden]) {
    display: none;
  }
  ul,
  [part='language'],
  [part='error'] {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--plugin-editor-gap, 0.5em);
    margin: 0;
    padding: 0;
    list-style: none;
  }
  * + ul,
  ul + [part] {
    margin-block-start: var(--plugin-editor-gap, 0.5em);
  }
  [part='language'],
  p,
  button {
    margin: 0;
    padding: 0.5em 0.75em;
    font: inherit;
    color: inherit;
    background: var(--plugin-editor-background, none);
    border: var(--plugin-editor-border, 1px solid color-mix(in srgb, currentColor 25%, transparent));
    border-radius: var(--plugin-editor-radius, 0.5em);
  }
  [part='short'],
  [part='feature'] {
    padding: 0.1em 0.6em;
    font-size: 0.8em;
    background: color-mix(in srgb, currentColor 10%, transparent);
    border-radius: 1em;
  }
  :has(> :checked) {
    border-color: var(--plugin-editor-accent, currentColor);
    box-shadow: inset 0 0 0 1px var(--plugin-editor-accent, currentColor);
  }
  :has(> :enabled):hover {
    background: color-mix(in srgb, currentColor 5%, transparent);
  }
  :has(> :disabled) {
    opacity: 0.5;
  }
  input {
    margin: 0;
    outline: 0;
    accent-color: var(--plugin-editor-accent, auto);
  }
  :has(> input:focus) {
    outline: 2px solid var(--plugin-editor-accent, currentColor);
    outline-offset: 2px;
  }
`;
