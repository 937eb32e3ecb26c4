import { javascript } from '@codemirror/lang-javascript';
import type { Extension } from '@codemirror/state';

/** What the editor knows about a language by itself. */
interface KnownLanguage {
  pretty: string;
  support: () => Extension;
}

const known: Record<string, KnownLanguage> = {
  javascript: { pretty: 'JavaScript', support: () => javascript() },
  typescript: { pretty: 'TypeScript', support: () => javascript({ typescript: true }) },
  // Its syntax is TypeScript's.
  assemblyscript: { pretty: 'AssemblyScript', support: () => javascript({ typescript: true }) },
};

/** A language's name for people; one that the editor does not know keeps its own. */
export const prettyLanguage = (lang: string): string =>
  Object.hasOwn(known, lang) ? (known[lang] as KnownLanguage).pretty : lang;

/** Highlighting, indentation and completion of a language; nothing for one that the editor does not know. */
export const languageSupport = (lang: string): Extension =>
  Object.hasOwn(known, lang) ? (known[lang] as KnownLanguage).support() : [];
