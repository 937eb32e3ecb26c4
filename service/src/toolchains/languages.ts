import { moduleUrl } from '../processes/module-url.ts';
import { errorMessage } from '../error-message.ts';
import { MissingPackageError } from './language.ts';
import type { Language } from './language.ts';
import assemblyscript from './languages/assemblyscript.ts';
import javascript from './languages/javascript.ts';
import python from './languages/python.ts';
import typescript from './languages/typescript.ts';

/** A language and the module that defines it, which the compiler's process loads again for itself. */
export type LoadedLanguage = Language & { readonly module: URL };

/** Every toolchain. A new language is a new file in `languages/` and a line here. */
const toolchains: readonly LoadedLanguage[] = [
  { ...assemblyscript, module: moduleUrl('./languages/assemblyscript', import.meta.url) },
  { ...javascript, module: moduleUrl('./languages/javascript', import.meta.url) },
  { ...python, module: moduleUrl('./languages/python', import.meta.url) },
  { ...typescript, module: moduleUrl('./languages/typescript', import.meta.url) },
];

/**
 * The toolchains that work on this machine, in the order of their names.
 * @param onSkip called for each toolchain that does not work, with the error (default: prints it, unless a package is not installed)
 * @throws Error when two toolchains have the same identifier
 */
export function loadLanguages(
  onSkip: (identifier: string, reason: unknown) => void = printSkipped,
  all: readonly LoadedLanguage[] = toolchains,
): ReadonlyMap<string, LoadedLanguage> {
  const working = all.filter((language) => {
    try {
      language.probe();
      return true;
    } catch (error) {
      onSkip(language.identifier, error);
      return false;
    }
  });
  const byIdentifier = new Map(
    working
      .toSorted((a, b) => a.pretty.localeCompare(b.pretty, 'en'))
      .map((language) => [language.identifier, language]),
  );
  if (byIdentifier.size !== working.length)
    throw new Error('Two toolchains have the same language identifier.');
  return byIdentifier;
}

function printSkipped(identifier: string, reason: unknown): void {
  if (reason instanceof MissingPackageError) return;
  const message = errorMessage(reason);
  console.error(`The toolchain for ${identifier} does not work here and is left out: ${message}`);
}
