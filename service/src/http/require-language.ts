import type { Language } from '../toolchains/language.ts';
import type { ServiceContext } from './context.ts';
import { notFound } from './errors.ts';

/** The toolchain of a language that a path names. Throws 404 when there is none. */
export function requireLanguage({ languages }: ServiceContext, identifier: string): Language {
  const language = languages.get(identifier);
  if (!language) {
    throw notFound(
      'unknown-language',
      `There is no such language; there are: ${[...languages.keys()].join(', ')}.`,
    );
  }
  return language;
}
