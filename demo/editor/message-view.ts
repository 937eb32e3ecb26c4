import { el } from './dom.ts';

export interface MessageOptions {
  title: string;
  text: string;
  /** What the user can do here. */
  action?: { label: string; run: () => void };
}

/** A page that says why there is no editor on it, and what to do. */
export function messageView({ title, text, action }: MessageOptions): HTMLElement {
  const button =
    action && el('button', { type: 'button', class: 'button primary', onclick: action.run }, action.label);
  return el(
    'main',
    { class: 'message' },
    el(
      'div',
      { class: 'message-box', role: 'alert' },
      el('h1', {}, title),
      el('p', {}, text),
      ...(button ? [button] : []),
    ),
  );
}

/** The page while something is on its way. */
export const waitingView = (text: string): HTMLElement =>
  el(
    'main',
    { class: 'message' },
    el('h1', { class: 'visually-hidden' }, 'Plugin editor'),
    el('p', { class: 'waiting', role: 'status' }, text),
  );
