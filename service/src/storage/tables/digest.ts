import { createHash } from 'node:crypto';
import type { PluginSource } from '../../plugins/records.ts';

/** What a build depends on: the language and the text, not the tests. SHA-256 in base64url. */
export const digestOf = ({ lang, contents }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents]))
    .digest('base64url');

/**
 * What a version is made of: SHA-256, in hex, of the JSON of `[lang, contents, tests]` in UTF-8. `tests` is an empty array
 * where the source has none, and the keys of each object in it are in the order of their UTF-16 units, as the order in which
 * a client sent them is no difference. Other fields of a source do not count.
 */
export const sourceDigestOf = ({ lang, contents, tests = [] }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents, tests], withSortedKeys))
    .digest('hex');

/** A replacer of `JSON.stringify`. */
function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // Not by assignment, which `__proto__` would make something else of.
  return Object.fromEntries(entries);
}

/** What tells a record, as its JSON, from all others that had the same revision: 96 bits of its SHA-256, in base64url. */
export const tagOf = (record: string): string =>
  createHash('sha256').update(record).digest('base64url').slice(0, 16);
