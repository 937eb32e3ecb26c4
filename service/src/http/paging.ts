import { createHash } from 'node:crypto';
import * as z from 'zod';
import { badRequest } from './errors.ts';

/*
 * Lists are read page by page, each after the last row of the one before: a cursor holds the key that the rows are sorted by.
 * So a row that is there throughout appears exactly once, whatever rows come and go, and the last page costs as much as the
 * first. A cursor is no secret and needs no signature, because it only says where to begin in a list that is limited to what
 * its caller may see anyway.
 */

/** A part of the key that rows are sorted by: a name, or a number such as a time in milliseconds. */
export type KeyPart = 'text' | 'number';

/** The key of a row: as many values as the list has parts, which are different for any two rows. */
export type Key<Parts extends readonly KeyPart[]> = {
  readonly [I in keyof Parts]: Parts[I] extends 'text' ? string : number;
};

/** Which rows are asked for. */
export interface Page<K> {
  /** How many rows may be answered. One more should be read, which tells whether there is more. */
  readonly limit: number;
  /** The key of the last row of the page before; `undefined` for the first page. */
  readonly after: K | undefined;
}

/** What makes a list another one: its operation, and what its rows are chosen by. */
export interface ListOf {
  /** The operation's id. */
  readonly operation: string;
  readonly filter: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** How many rows a page has at most, and where nothing else is asked for. */
const [mostRows, defaultRows] = [200, 50];

/** The longest cursor that is looked at, in characters; the names in a key have 2000 bytes together. */
const longestCursor = 12_000;

/**
 * The parameters of a list's query: `limit` and `after`.
 * @param rows how many are answered without `limit`
 */
export const pageQuery = (rows = defaultRows) => ({
  limit: wholeNumber(1, mostRows)
    .optional()
    .transform((limit) => limit ?? rows)
    .meta({
      description: `How many there may be in the answer, by default ${rows}.`,
      override: { type: 'integer', minimum: 1, maximum: mostRows, default: rows },
    }),
  after: z.string().max(longestCursor).optional().meta({
    description: '`next` of the page before, with the same other parameters.',
  }),
});

/** A query parameter that is a whole number. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)
    .meta({ override: { type: 'integer', minimum: least, maximum: most } });

/** How the rows of one list are paged through. */
export interface Paging<K> {
  /** The page that a query asks for. Throws 400 for a cursor that is none, or is of another list. */
  page(list: ListOf, query: { readonly limit: number; readonly after?: string | undefined }): Page<K>;
  /**
   * The rows to answer, of those that were read, and the cursor of the next page where there is more.
   * @param found up to one row more than the page's limit
   */
  answer<Row>(
    list: ListOf,
    { limit }: Page<K>,
    found: readonly Row[],
    keyOf: (row: Row) => K,
  ): { rows: readonly Row[]; next: { next?: string } };
}

/** Pages through rows that are sorted by a key of these parts. */
export function pagingBy<const Parts extends readonly KeyPart[]>(...parts: Parts): Paging<Key<Parts>> {
  const isKey = (key: readonly unknown[]): key is Key<Parts> & readonly unknown[] =>
    key.length === parts.length && key.every((value, i) => isPart(value, parts[i]));
  return {
    page(list, { limit, after }) {
      if (after === undefined) return { limit, after };
      const [digest, ...key] = decode(after);
      if (digest !== digestOf(list) || !isKey(key)) throw invalidCursor();
      return { limit, after: key };
    },
    answer(list, { limit }, found, keyOf) {
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      if (found.length <= limit || last === undefined) return { rows, next: {} };
      return { rows, next: { next: encode([digestOf(list), ...(keyOf(last) as readonly unknown[])]) } };
    },
  };
}

/** Whether a value is one that every database takes for a part of a key: a client may have made it. */
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
    // What is no JSON is no cursor either.
  }
  throw invalidCursor();
}

/** Tells one list from another. Long enough that two are never taken for each other by accident. */
function digestOf({ operation, filter }: ListOf): string {
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
