import { type Texts, en } from './en.ts';

/** The languages beside English, each loaded when it is needed. Another one is a file like `de.ts` and a line here. */
const languages: Readonly<Record<string, () => Promise<Texts>>> = {
  de: async () => (await import('./de.ts')).de,
};

/** The language of the texts, and the locale of dates and numbers. */
interface Locale {
  readonly texts: Texts;
  /** BCP 47 tag, of the language of the texts. */
  readonly tag: string;
}

let current: Locale = { texts: en, tag: 'en' };
/** Counts the calls of `setLocale`, so that one that loads slowly does not replace one that was asked for later. */
let calls = 0;
const listeners = new Set<() => void>();

/** The texts of the present language. Read anew wherever a text is shown, because the language can change. */
export const texts = (): Texts => current.texts;

/** BCP 47 tag for dates and numbers. */
export const localeTag = (): string => current.tag;

/** Calls `listener` after each change of the language. Returns a function that ends this. */
export function onLocaleChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Which of the languages fits a list of BCP 47 tags best, with the tag that it was found by. Tags that are not well-formed
 * are skipped; English is for all else.
 */
export function matchLocale(tags: readonly string[]): { language: string; tag: string } {
  const known = ['en', ...Object.keys(languages)];
  for (const tag of tags) {
    try {
      const [canonical = ''] = Intl.getCanonicalLocales(tag);
      const { language } = new Intl.Locale(canonical);
      if (known.includes(language)) return { language, tag: canonical };
    } catch {
      // A tag that is not well-formed names no language.
    }
  }
  return { language: 'en', tag: 'en' };
}

/**
 * Changes the language of the page, once its texts are there; where they cannot be loaded, the present one stays.
 * @param tag as the page around the editor says it; without one, the browser's languages decide
 * @param loadModule tries again where a module cannot be loaded
 */
export async function setLocale(
  tag: string | undefined,
  loadModule: (load: () => Promise<Texts>) => Promise<Texts>,
): Promise<void> {
  const call = ++calls;
  const wanted = tag === undefined ? navigator.languages : [tag];
  const match = matchLocale(wanted);
  let found: Texts = en;
  try {
    const load = languages[match.language];
    if (load) found = await loadModule(load);
  } catch {
    return;
  }
  if (call !== calls) return;
  current = { texts: found, tag: match.tag };
  const root = document.documentElement;
  root.lang = match.language;
  // Without a tag, a page in English keeps the direction that it has.
  if (tag !== undefined || found.direction !== 'ltr') root.dir = directionOf(tag) ?? found.direction;
  for (const listener of listeners) listener();
}

/** How the language of the page around the editor is written: its layout is mirrored with that page. */
function directionOf(tag: string | undefined): string | undefined {
  if (tag === undefined) return undefined;
  try {
    const locale = new Intl.Locale(tag) as Intl.Locale & {
      getTextInfo?: () => { direction: string };
      textInfo?: { direction: string };
    };
    return (locale.getTextInfo?.() ?? locale.textInfo)?.direction;
  } catch {
    return undefined;
  }
}
