/*
 * Globals that TypeScript's library declares and the sandbox's engine does not have. Their types are used in other signatures,
 * such as that of `toLocaleString`, so the declarations cannot be left out; but using their values is an error.
 */

const noClass = (instead: string) => `Plugins have no such class: ${instead}`;

/** The names of these globals, with advice on what to do instead. */
export const absentGlobals: ReadonlyMap<string, string> = new Map([
  ['Intl.DisplayNames', noClass('pass the names that you need in the input.')],
  ['Intl.DurationFormat', noClass('"Intl.NumberFormat" with the style "unit" writes each part.')],
  ['Intl.Locale', noClass('"Intl.getCanonicalLocales" checks the name of a locale.')],
  ['Intl.Segmenter', noClass('"Array.from(text)" gives the characters of a text.')],
  ['Atomics', 'Plugins have no threads.'],
]);

export interface AbsentGlobal {
  /** Where it is used, in UTF-16 code units. */
  readonly at: number;
  readonly name: string;
}

// Two patterns, because the proof that one for all is linear takes a hundred times as long.
const names = /\b(?:Intl\.(?:DisplayNames|DurationFormat|Locale|Segmenter)|Atomics)\b/g;
const beforeUse = /\s*(?:\??\.\s*[a-z]|\()/y;

/** How many uses are reported. */
const maxUses = 20;

/**
 * Whether a name that stands here is the value: `new` is before it, a member in lower case or a call behind it. `Intl.Name` without
 * a call may just be a type.
 */
function isUsed(source: string, start: number, end: number): boolean {
  beforeUse.lastIndex = end;
  const before = source.slice(Math.max(0, start - 20), start).trimEnd();
  return before.endsWith('new') || beforeUse.test(source);
}

/** Whether what stands here is a member, such as `formats.Intl`, or the end of another name, such as `$Intl`. */
const isPartOfAnother = (source: string, at: number): boolean => ['.', '$'].includes(source[at - 1] ?? '');

/** Whether a comment in the line above suppresses type errors. */
function isIgnored(source: string, at: number): boolean {
  const [above = ''] = source.slice(0, at).split('\n').slice(-2, -1);
  return /^\s*\/\/ ?@ts-(?:ignore|expect-error)\b/.test(above);
}

/** Where a source seems to use the value of such a global. A match may be in a comment or a string. */
export function findAbsentGlobals(source: string): readonly AbsentGlobal[] {
  const found: AbsentGlobal[] = [];
  for (const { 0: name, index: at } of source.matchAll(names)) {
    if (!isUsed(source, at, at + name.length)) continue;
    // The source checks whether the global exists, so it is prepared for its absence.
    if (source.includes(`typeof ${name}`) || source.includes(`globalThis.${name}`)) continue;
    if (isPartOfAnother(source, at) || isIgnored(source, at)) continue;
    found.push({ at, name });
    if (found.length === maxUses) break;
  }
  return found;
}
