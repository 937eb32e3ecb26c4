import { lazyModule } from '../ui/lazy-module.ts';

const pretty: Record<string, string> = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  assemblyscript: 'AssemblyScript',
  python: 'Python',
};

/** The name of a language, such as `JavaScript`; its identifier where the editor does not know the language. */
export const prettyLanguage = (lang: string): string =>
  Object.hasOwn(pretty, lang) ? (pretty[lang] as string) : lang;

const typingHelp = lazyModule(() => import('./typing-help.ts'));

/** The languages and what else helps with typing, where they are loaded. */
export const loadedTypingHelp = typingHelp.loaded;

/**
 * Loads the languages, once. A text can be read and edited without them, and they are a third of all that the editor is
 * made of, so on a slow line they come after the text. Rejects when they cannot be loaded; the next call tries again.
 */
export const loadTypingHelp = typingHelp.load;
