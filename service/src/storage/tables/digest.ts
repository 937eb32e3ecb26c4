import { createHash } from 'node:crypto';
import type { PluginSource } from '../../plugins/records.ts';
import { areTyped } from '../../plugins/schemas.ts';
import type { Schemas } from '../../plugins/schemas.ts';

/** Digest of what a build depends on: the language and the text, not the tests. SHA-256 in base64url. */
export const buildDigestOf = ({ lang, contents }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents]))
    .digest('base64url');

/**
 * Digest of what a version is made of: SHA-256, in hex, of the JSON of `[lang, contents, tests]` in UTF-8. `tests` is an empty
 * array where the source has none. The keys of each object in it are sorted by their UTF-16 code units, because the order in which
 * a client sent them makes no difference. Other fields of a source do not count.
 */
export const sourceDigestOf = ({ lang, contents, tests = [] }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents, tests], withSortedKeys))
    .digest('hex');

/**
 * Digest of what a version is made of, including the schemas of its namespace: SHA-256, in hex, of the digest of its source, a
 * space and the digest of the schemas. Without schemas it is the digest of the source.
 */
export const versionDigestOf = (sourceDigest: string, schemasDigest: string): string =>
  schemasDigest
    ? createHash('sha256').update(`${sourceDigest} ${schemasDigest}`).digest('hex')
    : sourceDigest;

/** Digest of schemas: SHA-256 in base64url; empty where there are none. The order of keys makes no difference. */
export const schemasDigestOf = ({ input, output }: Schemas): string =>
  areTyped({ input, output })
    ? createHash('sha256').update(JSON.stringify({ input, output }, withSortedKeys)).digest('base64url')
    : '';

/** A replacer of `JSON.stringify`. */
function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // Not by assignment, because assigning to `__proto__` sets the prototype.
  return Object.fromEntries(entries);
}

/** Distinguishes records with the same revision, by their JSON: 96 bits of the SHA-256, in base64url. */
export const tagOf = (record: string): string =>
  createHash('sha256').update(record).digest('base64url').slice(0, 16);
