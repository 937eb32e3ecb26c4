import type { PluginTarget } from '../plugin/target.ts';
import { el } from '../ui/dom.ts';
import { pluginIdentity } from '../plugin/identity-view.ts';

export interface MessageOptions {
  title: string;
  text: string;
  /** The plugin that it is about, if it is about one. */
  plugin?: PluginTarget | undefined;
  /** What the user can do here. */
  action?: { label: string; run: () => void };
}

/** A page that says why there is no editor on it, and what to do. */
export function messageView({ title, text, plugin, action }: MessageOptions): HTMLElement {
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
      ...(plugin ? [pluginIdentity(plugin)] : []),
      ...(button ? [button] : []),
    ),
  );
}

/** The page while a plugin is on its way. */
export const waitingView = (text: string, plugin: PluginTarget): HTMLElement =>
  el(
    'main',
    { class: 'message' },
    el('h1', { class: 'visually-hidden' }, 'Plugin editor'),
    el(
      'div',
      { class: 'message-box opening' },
      el('p', { class: 'waiting', role: 'status' }, text),
      pluginIdentity(plugin),
    ),
  );
