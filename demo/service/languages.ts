import { readdir } from 'node:fs/promises';
import type { Language } from './language.ts';

const folder = new URL('./languages/', import.meta.url);

const loadLanguage = async (file: string): Promise<Language> =>
  ((await import(new URL(file, folder).href)) as { default: Language }).default;

/** A language and the file that it comes from. */
export type LoadedLanguage = Language & { readonly file: string };

/**
 * Loads the toolchains: every file in `languages/`, so that a new language is a new file, in the order of their
 * names. One that does not work on this machine is left out, and `onSkip` told why. Throws when two claim one
 * identifier.
 */
export async function loadLanguages(
  onSkip: (file: string, reason: unknown) => void = printSkipped,
  list = () => readdir(folder),
  load = loadLanguage,
): Promise<ReadonlyMap<string, LoadedLanguage>> {
  const files = (await list()).filter((name) => name.endsWith('.ts'));
  const loaded = await Promise.all(
    files.map(async (file) => {
      try {
        const language = await load(file);
        await language.probe();
        return [{ ...language, file }];
      } catch (error) {
        onSkip(file, error);
        return [];
      }
    }),
  );
  const languages = loaded.flat().toSorted((a, b) => a.pretty.localeCompare(b.pretty, 'en'));
  const byIdentifier = new Map(languages.map((language) => [language.identifier, language]));
  if (byIdentifier.size !== languages.length) {
    throw new Error(`Two files in ${folder.pathname} have the same language identifier.`);
  }
  return byIdentifier;
}

function printSkipped(file: string, reason: unknown): void {
  const message = reason instanceof Error ? reason.message : String(reason);
  console.error(`The language of ${file} does not work here and is left out: ${message}`);
}

export const languages = await loadLanguages();
