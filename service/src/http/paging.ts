import { createHash } from 'node:crypto';
import * as z from 'zod';
import { mebibyte } from '../units.ts';
import { badRequest } from './errors.ts';

/*
 * Lists are read page by page. A cursor holds the sort key of the last row of a page, and the next page begins after that key.
 * So a row that exists all the time appears exactly once, whatever rows are added and deleted meanwhile, and the last page
 * costs as much as the first. A cursor needs no signature: it only says where to begin in a list that holds nothing but what
 * its caller may see.
 */

/** A part of the key that rows are sorted by: a name, or a number such as a time in milliseconds. */
export type KeyPart = 'text' | 'number';

/** The sort key of a row: one value for each part. No two rows of a list have the same key. */
export type Key<Parts extends readonly KeyPart[]> = {
  readonly [I in keyof Parts]: Parts[I] extends 'text' ? string : number;
};

/** The page of a list that a request asks for. */
export interface Page<K> {
  /** How many rows to read: one more than the page may have, to find out whether there is another page. */
  readonly limit: number;
  /** The key of the last row of the page before; `undefined` for the first page. */
  readonly after: K | undefined;
  /**
   * Returns the items of the page, and as `next` the cursor of the next page if there is one. A page ends early where its items have
   * more than `maxBytes` of JSON; it has at least one.
   * @param found the rows that were read
   * @param toItem makes of a row what is answered
   */
  of<Row, Item>(
    found: readonly Row[],
    keyOf: (row: Row) => K,
    toItem: (row: Row) => Item,
    options?: { readonly maxBytes?: number; readonly hasMore?: boolean },
  ): { items: Item[]; next: { next?: string } };
}

/** What identifies a list: its operation and its filter. A cursor is only valid for the list that it was made for. */
export interface ListIdentity {
  /** The operation's id. */
  readonly operation: string;
  readonly filter: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** How many rows a page may have, and how many it has without `limit`. */
const [maxRows, defaultRows] = [200, 50];

/** How many rows a page has without `limit` in lists that clients of version 0.5 use: they do not ask for further pages. */
export const rowsForOldClients = 1000;

/** How many bytes of JSON the items of a page of `rows` rows may have together. Control characters become six bytes each. */
const maxPageBytes = (rows: number) => (rows > maxRows ? 4 : 1) * mebibyte;

/** The longest cursor that is looked at, in characters; the names in a key have 2000 bytes together. */
const longestCursor = 12_000;

/**
 * The parameters of a list's query: `limit` and `after`.
 * @param rows how many rows a page has without `limit`
 */
export const pageQuery = (rows = defaultRows) => ({
  limit: wholeNumber(1, maxRows)
    .optional()
    .transform((limit) => limit ?? rows)
    .meta({
      description: `How many rows the page may have; without it, ${rows}.`,
      // A schema must not have a default that is above its maximum.
      override: { type: 'integer', minimum: 1, maximum: maxRows, ...(rows <= maxRows && { default: rows }) },
    }),
  after: z.string().max(longestCursor).optional().meta({
    description: '`next` of the page before. The other parameters must be the same.',
  }),
});

/** A query parameter that is a whole number. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

/**
 * Makes the function that reads the parameters `limit` and `after` of a list whose rows are sorted by a key of these parts. It throws
 * 400 for a cursor that is malformed or was made for another list.
 */
export function pagingBy<const Parts extends readonly KeyPart[]>(...parts: Parts) {
  const isKey = (key: readonly unknown[]): key is Key<Parts> & readonly unknown[] =>
    key.length === parts.length && key.every((value, i) => isPart(value, parts[i]));

  return (
    list: ListIdentity,
    { limit: rows, after: cursor }: { readonly limit: number; readonly after?: string | undefined },
  ): Page<Key<Parts>> => {
    const [digest, ...after] = cursor === undefined ? [] : decode(cursor);
    if (cursor !== undefined && (digest !== identityDigest(list) || !isKey(after))) throw invalidCursor();
    return {
      limit: rows + 1,
      after: cursor === undefined ? undefined : (after as unknown as Key<Parts>),
      of(found, keyOf, toItem, { maxBytes = maxPageBytes(rows), hasMore = found.length > rows } = {}) {
        const items: ReturnType<typeof toItem>[] = [];
        let bytes = 0;
        for (const row of found.slice(0, rows)) {
          const item = toItem(row);
          bytes += Buffer.byteLength(JSON.stringify(item));
          if (items.length && bytes > maxBytes) break;
          items.push(item);
        }
        const last = found[items.length - 1];
        if (last === undefined || (items.length === found.length && !hasMore)) return { items, next: {} };
        return {
          items,
          next: { next: encode([identityDigest(list), ...(keyOf(last) as readonly unknown[])]) },
        };
      },
    };
  };
}

/** Whether every database accepts a value as this part of a key. A cursor comes from a client, so it may hold anything. */
const isPart = (value: unknown, part: KeyPart | undefined) =>
  part === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'string' && !value.includes('\0') && value.isWellFormed();

const encode = (values: readonly unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');

function decode(cursor: string): readonly unknown[] {
  if (!/^[\w-]+$/.test(cursor)) throw invalidCursor();
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(values)) return values;
  } catch {
    // Falls through: a text that is not JSON is not a cursor.
  }
  throw invalidCursor();
}

/** A digest of a list's identity: 96 bits, so that two lists never share one by accident. */
function identityDigest({ operation, filter }: ListIdentity): string {
  const named = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([operation, ...named]))
    .digest('base64url')
    .slice(0, 16);
}

const invalidCursor = () =>
  badRequest(
    'invalid-cursor',
    'after: must be `next` of the page before, asked for with the same other parameters.',
    '/after',
  );
