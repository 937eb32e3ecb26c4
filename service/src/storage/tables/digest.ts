import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Library, LibraryVersions } from '../../plugins/libraries.ts';
import type { PluginSource } from '../../plugins/records.ts';
import { stringifyText } from '../long-json.ts';
import { areTyped } from '../../plugins/schemas.ts';
import type { Schemas } from '../../plugins/schemas.ts';

/** A source as it is stored: its JSON, and what is looked up without reading that. */
export interface SerializedSource {
  /**
   * JSON, which holds every JavaScript text, U+0000 and lone surrogates included; the text of databases does not. The members are
   * in the order in which the client sent them.
   */
  readonly record: string;
  readonly lang: string;
  /** Digest of what a build depends on, as {@link buildDigestOf}. */
  readonly buildDigest: string;
  /**
   * Digest of what a version is made of: SHA-256, in hex, of the JSON of `[lang, contents, tests]` in UTF-8. `tests` is an empty
   * array where the source has none. The keys of each object in it are sorted by their UTF-16 code units, because the order in
   * which a client sent them makes no difference. Other fields of a source do not count.
   */
  readonly sourceDigest: string;
  /** Distinguishes records that have the same revision, such as those of a database and its restored backup. */
  readonly tag: string;
}

/** From how many characters on the steps below take so long that others get a turn between them. */
const longText = 100_000;

/** Serializes and digests a source, each part of it once. */
export async function serializeSource(source: PluginSource): Promise<SerializedSource> {
  const { lang, contents, tests = [] } = source;
  const json = await stringifyText(contents);
  const hash = buildHash(lang, json);
  const buildDigest = hash.copy().update(']').digest('base64url');
  if (contents.length > longText) await yieldToOthers();
  const members = Object.entries(source)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key, key === 'contents' ? json : JSON.stringify(value)] as const);
  return {
    record: `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`,
    lang,
    buildDigest,
    sourceDigest: hash.update(`,${await sortedJson(tests)}]`).digest('hex'),
    tag: randomBytes(12).toString('base64url'),
  };
}

/** The JSON of an array whose objects have sorted keys. Others get a turn between long parts of it. */
async function sortedJson(items: readonly unknown[]): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for (const item of items) {
    const json = JSON.stringify(item, withSortedKeys);
    parts.push(json);
    length += json.length;
    if (length < longText) continue;
    length = 0;
    await yieldToOthers();
  }
  return `[${parts.join()}]`;
}

/** Digest of what a build depends on: the language and the text, not the tests. SHA-256 in base64url of `[lang, contents]`. */
export const buildDigestOf = async ({
  lang,
  contents,
}: Pick<PluginSource, 'lang' | 'contents'>): Promise<string> =>
  buildHash(lang, await stringifyText(contents))
    .update(']')
    .digest('base64url');

/** The hash of `[lang, contents` without the end of that array. `json`: the contents. */
const buildHash = (lang: string, json: string) =>
  createHash('sha256')
    .update(`[${JSON.stringify(lang)},`)
    .update(json);

/** What a build depends on in the record of its namespace. */
export interface NamespaceDigests {
  /** As {@link schemasDigestOf}. */
  readonly schemasDigest: string;
  /** As {@link librariesDigestOf}. */
  readonly librariesDigest: string;
}

/** Those of a namespace without a record. */
export const noDigests: NamespaceDigests = { schemasDigest: '', librariesDigest: '' };

/**
 * Digest of what a version is made of, including the schemas and libraries of its namespace: SHA-256, in hex, of the digest of its
 * source, a space and the digest of the schemas, and where there are libraries another space and their digest. With neither it is the
 * digest of the source.
 */
export function versionDigestOf(
  sourceDigest: string,
  { schemasDigest, librariesDigest }: NamespaceDigests,
): string {
  if (!schemasDigest && !librariesDigest) return sourceDigest;
  const libraries = librariesDigest && ` ${librariesDigest}`;
  return createHash('sha256').update(`${sourceDigest} ${schemasDigest}${libraries}`).digest('hex');
}

/** Digest of the versions of a namespace's libraries: SHA-256 in base64url; empty where there are none. */
export const librariesDigestOf = (libraries: LibraryVersions = {}): string =>
  Object.keys(libraries).length
    ? createHash('sha256').update(JSON.stringify(libraries, withSortedKeys)).digest('base64url')
    : '';

/** Digest of all that is published of a library: SHA-256 in base64url. */
export const libraryDigestOf = ({ contents, declarations, description }: Library): string =>
  createHash('sha256')
    .update(JSON.stringify([contents, declarations ?? null, description ?? null]))
    .digest('base64url');

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
