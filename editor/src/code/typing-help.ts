import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import { keymap, ViewPlugin } from '@codemirror/view';
import { loadModule } from '../ui/lazy-module.ts';
import { completionList } from './completion-list.ts';

/** The support for each language that the editor has. */
const languages: Record<string, () => Extension> = {
  javascript: () => javascript(),
  typescript: () => javascript({ typescript: true }),
  // Its syntax is TypeScript's.
  assemblyscript: () => javascript({ typescript: true }),
  python: () => loadedLater(async () => (await loadModule(() => import('./python.ts'))).pythonSupport()),
};

/** An extension that a view loads itself, so that the other languages do not wait for it. Without it the text is plain. */
function loadedLater(load: () => Promise<Extension>): Extension {
  const compartment = new Compartment();
  const loader = ViewPlugin.define((view) => {
    let isThere = true;
    load().then(
      (extension) => isThere && view.dispatch({ effects: compartment.reconfigure(extension) }),
      (error: unknown) => console.warn(error),
    );
    return { destroy: () => (isThere = false) };
  });
  return [compartment.of([]), loader];
}

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
