/*
 * What the libraries of TypeScript declare, all of them or none, and the sandbox's engine does not have. Their types are of use,
 * such as in the signature of `toLocaleString`; their values are not there.
 */

/** The names, and what to do instead. */
export const absentGlobals: ReadonlyMap<string, string> = new Map([
  [
    'Intl',
    'Plugins have no locales: write numbers and dates as text by "toFixed", "toISOString" and the like.',
  ],
  ['Atomics', 'Plugins have no threads.'],
]);

export interface AbsentGlobal {
  /** Where it is used, in UTF-16 code units. */
  readonly at: number;
  readonly name: string;
}

// A member, a call or `new`; not a type, which begins large and stands behind a colon or in brackets. Few are enough.
const uses = /\b(new\s+)?(Intl|Atomics)\b(\s*\??\.\s*(?:[a-z]|[A-Z]\w*\s*\())?/g;
const most = 20;

/** Whether what stands here is a member, such as `formats.Intl`, or the end of another name, such as `$Intl`. */
const isPartOfAnother = (source: string, at: number): boolean => ['.', '$'].includes(source[at - 1] ?? '');

/** Whether the line above takes problems of types back. */
function isIgnored(source: string, at: number): boolean {
  const [above = ''] = source.slice(0, at).split('\n').slice(-2, -1);
  return /^\s*\/\/ ?@ts-(?:ignore|expect-error)\b/.test(above);
}

/** Places of a source in which a value seems to be used that the sandbox does not have. It may be in a comment or a text. */
export function findAbsentGlobals(source: string): readonly AbsentGlobal[] {
  const found: AbsentGlobal[] = [];
  for (const match of source.matchAll(uses)) {
    const [, created, name = '', member] = match;
    if (created === undefined && member === undefined) continue;
    // Who asks first whether it is there knows that it may not be.
    if (source.includes(`typeof ${name}`) || source.includes(`globalThis.${name}`)) continue;
    if (isPartOfAnother(source, match.index) || isIgnored(source, match.index)) continue;
    found.push({ at: match.index + match[0].indexOf(name), name });
    if (found.length === most) break;
  }
  return found;
}
