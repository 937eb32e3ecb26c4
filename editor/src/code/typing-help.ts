import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';

/** What the editor knows about a language by itself. */
const languages: Record<string, () => Extension> = {
  javascript: () => javascript(),
  typescript: () => javascript({ typescript: true }),
  // Its syntax is TypeScript's.
  assemblyscript: () => javascript({ typescript: true }),
};

/** Highlighting, indentation and completion of a language; nothing for one that the editor does not know. */
export const languageSupport = (lang: string): Extension =>
  Object.hasOwn(languages, lang) ? (languages[lang] as () => Extension)() : [];

/** All that helps with typing in a language and with finding in the text. */
export const typingHelp = (lang: string): Extension => [
  languageSupport(lang),
  closeBrackets(),
  // Backspace between two brackets is more than the plain one.
  keymap.of(closeBracketsKeymap),
  autocompletion({ icons: false }),
  highlightSelectionMatches(),
  search(),
  EditorState.phrases.of(searchPhrases),
  Prec.low(keymap.of([...searchKeymap, ...completionKeymap])),
];

/** The search panel's own words, which start small. */
const searchPhrases = Object.fromEntries(
  ['next', 'previous', 'all', 'match case', 'regexp', 'by word', 'replace', 'replace all'].map((phrase) => [
    phrase,
    phrase[0]?.toUpperCase() + phrase.slice(1),
  ]),
);
