import { checkSegment } from '../address.ts';
import type { Schema } from '../shapes.ts';

/** One request of an interface of the service, without the base address and the token. */
export interface Operation<T = undefined> {
  /** Whether it may be sent without a token. */
  isPublic?: true;
  /** Default: `GET`. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** What follows the base address, encoded, with the query. */
  path: string;
  /** Reads the response's JSON. Without a schema it stays text. */
  schema?: Schema<T>;
  headers?: Record<string, string>;
  /** A body of JSON. */
  json?: object | undefined;
  /** A body of text. */
  text?: string;
}

/** The segments of a path, in order, keyed by the names that errors give them. */
export type Segments = Readonly<Record<string, string>>;

/**
 * Makes a path of fixed text, and of segments that are checked and encoded.
 * @throws TypeError that names a segment that no path can hold.
 */
export const encodedPath = (...parts: (string | Segments)[]): string =>
  parts.flatMap((part) => (typeof part === 'string' ? part : encodeSegments(part))).join('/');

/** Makes the path of an operation of the builder or environment interface. */
export const pathOf = (...parts: (string | Segments)[]): string => encodedPath('/api', ...parts);

const encodeSegments = (segments: Segments) =>
  Object.entries(segments).map(([name, value]) => encodeURIComponent(checkSegment(name, value)));

/** Makes a query of the values that are set, with its question mark; empty where none is set. */
export function queryOf<T extends { [Name in keyof T]: string | number | boolean | undefined }>(
  values: T,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values as Record<string, string | undefined>)) {
    if (value !== undefined) query.set(name, value);
  }
  return query.size > 0 ? `?${query}` : '';
}

/**
 * Returns text that will arrive as it was sent.
 * @throws TypeError that names `name` for anything but text, such as an object, which would arrive as `[object Object]`; and
 * for a lone surrogate, which would arrive as another character.
 */
export function checkText(name: string, text: string): string {
  if (typeof text !== 'string' || !text.isWellFormed())
    throw new TypeError(`${name} must be well-formed text`);
  return text;
}
