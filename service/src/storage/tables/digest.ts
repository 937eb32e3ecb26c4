import { createHash } from 'node:crypto';
import type { PluginSource } from '../../plugins/records.ts';
import { areTyped } from '../../plugins/schemas.ts';
import type { Schemas } from '../../plugins/schemas.ts';

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

/**
 * What a version is made of where its namespace has schemas: SHA-256, in hex, of the digest of its source, a space and that of
 * the schemas. Without schemas it is that of the source.
 */
export const versionDigestOf = (sourceDigest: string, schemasDigest: string): string =>
  schemasDigest
    ? createHash('sha256').update(`${sourceDigest} ${schemasDigest}`).digest('hex')
    : sourceDigest;

/**
 * Tells schemas from others, as SHA-256 in base64url; empty where there are none, which is what text plugins were built with. The
 * order of keys is no difference.
 */
export const schemasDigestOf = ({ input, output }: Schemas): string =>
  areTyped({ input, output })
    ? createHash('sha256').update(JSON.stringify({ input, output }, withSortedKeys)).digest('base64url')
    : '';

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
