import type { Language } from '../../src/core/records.ts';
import { el } from './dom.ts';

export interface StartScreenOptions {
  /** The new plugin's name. */
  fn: string;
  languages: readonly Language[];
  /** A language that was asked for and that the builder does not have. */
  unknown?: string | undefined;
  /** The messages to show above. */
  notices: HTMLElement;
  onChoose: (language: Language) => void;
}

/** The page for a plugin that does not exist yet, when nobody has said in which language it is to be. */
export function startScreen({ fn, languages, unknown, notices, onChoose }: StartScreenOptions): HTMLElement {
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
        el('h1', {}, fn),
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
