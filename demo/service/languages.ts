import { readdir } from 'node:fs/promises';
import type { Language } from './language.ts';

const folder = new URL('./languages/', import.meta.url);

/**
 * Loads the toolchains: every file in `languages/`, so that a new language is a new file, in the order of their
 * names. Throws when two claim one identifier.
 */
export async function loadLanguages(): Promise<ReadonlyMap<string, Language>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'));
  const languages = await Promise.all(
    files.map(async (file) => ((await import(new URL(file, folder).href)) as { default: Language }).default),
  );
  languages.sort((a, b) => a.pretty.localeCompare(b.pretty, 'en'));
  const byIdentifier = new Map(languages.map((language) => [language.identifier, language]));
  if (byIdentifier.size !== languages.length) {
    throw new Error(`Two files in ${folder.pathname} have the same language identifier.`);
  }
  return byIdentifier;
}

export const languages = await loadLanguages();
