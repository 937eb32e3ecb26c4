import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';
import { completionList } from './completion-list.ts';

/** The support for each language that the editor has. */
const languages: Record<string, () => Extension> = {
  javascript: () => javascript(),
  typescript: () => javascript({ typescript: true }),
  // Its syntax is TypeScript's.
  assemblyscript: () => javascript({ typescript: true }),
};

/** Highlighting, indentation and completion of a language; nothing for one that the editor does not know. */
export const languageSupport = (lang: string): Extension =>
  Object.hasOwn(languages, lang) ? (languages[lang] as () => Extension)() : [];

/** All that helps with typing in a language. */
export const typingHelp = (lang: string): Extension => [
  languageSupport(lang),
  closeBrackets(),
  // Comes before the default keymap, so that Backspace between two brackets removes both.
  keymap.of(closeBracketsKeymap),
  completionList(),
  // CodeMirror's JavaScript indents a line anew when a brace is typed at its start; this adds `)` and `]`.
  EditorState.languageData.of(() => [{ indentOnInput: /^\s*[\])]$/ }]),
  Prec.low(keymap.of(completionKeymap)),
];
