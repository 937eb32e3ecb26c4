import { css } from './css.ts';

export const styles = css`
  :host {
    display: block;
    position: relative;
    block-size: var(--plugin-editor-height, 36rem);
    overflow: hidden;
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
  /* A wait too short to notice is not worth a flash. */
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
  /* What the editor is told of the page's look is read from these. They are laid out, as nothing else has transitions,
     and the first step of a transition is its end, so that a value read in the midst of one is not between two. */
  .probes {
    position: absolute;
    visibility: hidden;
    font-family: '?';
  }
  .probes i {
    transition: 1ms step-start;
    transition-behavior: allow-discrete;
  }
  .accent {
    background-color: var(--plugin-editor-accent);
    border-radius: var(--plugin-editor-radius, 50%);
  }
  .background {
    background-color: var(--plugin-editor-background);
  }
  .color {
    background-color: var(--plugin-editor-color);
  }
  .border {
    border: var(--plugin-editor-border);
  }
  .font {
    font: var(--plugin-editor-font);
  }
  .scheme {
    background-color: light-dark(#fff, #000);
  }
  .probes .mix {
    transition: none;
  }
  @media (prefers-reduced-motion: reduce) {
    progress {
      display: none;
    }
  }
`;
