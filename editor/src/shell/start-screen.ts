import type { Language } from 'plugin-editor/client.js';
import type { PluginTarget } from '../plugin/target.ts';
import { el } from '../ui/dom.ts';
import { ownerLine } from '../plugin/identity-view.ts';
import { visibleText } from '../ui/visible-text.ts';

export interface StartScreenOptions {
  /** The new plugin. */
  target: PluginTarget;
  languages: readonly Language[];
  /** A language that was asked for and that the builder does not have. */
  unknown?: string | undefined;
  /** The messages to show above. */
  notices: HTMLElement;
  onChoose: (language: Language) => void;
}

/** The page for a plugin that does not exist yet, when nobody has said in which language it is to be. */
export function startScreen({
  target,
  languages,
  unknown,
  notices,
  onChoose,
}: StartScreenOptions): HTMLElement {
  const text = unknown
    ? `There is no template for “${unknown}” here. Choose a language for your new plugin; you get a small example that works.`
    : 'Choose a language for your new plugin. You get a small example that works, to change as you like.';
  const choices = languages.map((language) =>
    el(
      'li',
      {},
      el(
        'button',
        { type: 'button', class: 'choice', onclick: () => onChoose(language) },
        el('span', { class: 'choice-short', 'aria-hidden': 'true' }, language.short),
        el('span', { class: 'choice-name' }, language.pretty),
      ),
    ),
  );
  return el(
    'div',
    { class: 'start' },
    notices,
    el(
      'main',
      { class: 'message' },
      el(
        'div',
        { class: 'message-box' },
        el('p', { class: 'eyebrow' }, 'New plugin'),
        el('h1', {}, el('bdi', {}, visibleText(target.fn))),
        ownerLine(target.ident),
        el(
          'p',
          {},
          choices.length ? text : 'This plugin service offers no language, so no plugin can be started here.',
        ),
        el('ul', { class: 'choices', 'aria-label': 'Languages' }, ...choices),
      ),
    ),
  );
}
