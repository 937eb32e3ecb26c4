import { css } from 'lit';

export const styles = css`
  :host {
    display: block;
    position: relative;
    block-size: var(--plugin-editor-height, 36rem);
    overflow: clip;
    font: var(--plugin-editor-font, 1rem/1.5 system-ui, sans-serif);
    color: var(--plugin-editor-color, CanvasText);
    background: var(--plugin-editor-background, Canvas);
    border: var(--plugin-editor-border, 0);
    border-radius: var(--plugin-editor-radius, 0);
  }
  :host([hidden]) {
    display: none;
  }
  iframe {
    display: block;
    inline-size: 100%;
    block-size: 100%;
    border: 0;
  }
  /* Loaded ahead of any plugin, or about to go. */
  :host(:state(idle)) iframe {
    visibility: hidden;
  }
  [part='status'],
  [part='error'] {
    position: absolute;
    inset: 0;
    display: grid;
    place-content: safe center;
    justify-items: center;
    gap: var(--plugin-editor-gap, 1rem);
    padding: var(--plugin-editor-gap, 1rem);
    text-align: center;
    overflow: auto;
    background: inherit;
  }
  /* The text appears only after 0.3 s, because it would flash up in a shorter wait. */
  label {
    display: grid;
    gap: inherit;
    animation: wait 1ms 0.3s backwards;
  }
  @keyframes wait {
    from {
      visibility: hidden;
    }
  }
  p {
    margin: 0;
  }
  small {
    display: block;
    opacity: 0.8;
    overflow-wrap: anywhere;
  }
  progress {
    inline-size: 12rem;
    accent-color: var(--plugin-editor-accent, auto);
  }
  button {
    font: inherit;
    padding: 0.4em 1em;
  }
  /* The box around the probe of AppearanceReader (settings.ts). The probe inherits the box's font while the page sets none. The
     pseudo-element has every property that is read from the probe: only its transitions report that one of them changed. */
  .look {
    position: absolute;
    visibility: hidden;
    font-family: '?';
  }
  .look::before {
    content: '';
    font: var(--plugin-editor-font);
    color: var(--plugin-editor-color);
    background-color: var(--plugin-editor-background);
    border: var(--plugin-editor-border);
    border-radius: var(--plugin-editor-radius);
    outline-color: var(--plugin-editor-accent);
    caret-color: light-dark(#fff, #000);
    transition: 1ms;
    transition-behavior: allow-discrete;
  }
  @media (prefers-reduced-motion: reduce) {
    progress {
      display: none;
    }
  }
`;
