import { type TemplateResult, html } from 'lit/html.js';

/** Icons on a grid of 16, drawn with a line of 1.5. */
const icons = {
  up: 'M8 12.5v-9M4 7.5l4-4 4 4',
  down: 'M8 3.5v9M4 8.5l4 4 4-4',
  remove: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  add: 'M8 3v10M3 8h10',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  close: 'm4 4 8 8M12 4l-8 8',
  run: 'M5 3.2v9.6L12.5 8z',
  pass: 'm3.5 8.5 3 3 6-7',
  fail: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  ran: 'M8 4.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  panel: 'M2.5 3.5h11v9h-11zM10 3.5v9',
  stop: 'M4.5 4.5h7v7h-7z',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5.2a2.5 2.5 0 0 1 5 0v2.3',
  talk: 'M2.5 3.5h11V11h-6l-3 2.5V11h-2z',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
} as const;

export type Icon = keyof typeof icons;

/** An icon, hidden from screen readers: the control that holds it has a label. */
export const icon = (name: Icon): TemplateResult =>
  html`<svg class="icon icon-${name}" viewBox="0 0 16 16" aria-hidden="true">
    <path d=${icons[name]}></path>
  </svg>`;
