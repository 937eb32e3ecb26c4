import { checkSegment } from '../address.ts';
import type { Schema } from '../shapes.ts';

/** One request of the builder or environment interface, without address and token. */
export interface Operation<T = undefined> {
  /** Default: `GET`. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** What follows the base address, encoded, with the query. */
  path: string;
  /** Reads the answer. Without one the answer is not looked at. */
  schema?: Schema<T>;
  headers?: Record<string, string>;
  /** A body of JSON. */
  json?: object | undefined;
  /** A body of text. */
  text?: string;
}

/** Values for segments of a path, in their order, by the names that an error calls them. */
export type Segments = Readonly<Record<string, string>>;

/**
 * The path of an operation: fixed text, and segments that are checked and encoded.
 * @throws TypeError that names a segment that no path can hold.
 */
export const pathOf = (...parts: (string | Segments)[]): string =>
  ['/api', ...parts.flatMap((part) => (typeof part === 'string' ? part : encodeSegments(part)))].join('/');

const encodeSegments = (segments: Segments) =>
  Object.entries(segments).map(([name, value]) => encodeURIComponent(checkSegment(name, value)));

/** A query with the values that are set; empty where none is. */
export function queryOf(values: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, `${value}`);
  return query.size > 0 ? `?${query}` : '';
}

/**
 * Text that arrives as it was sent.
 * @throws TypeError that names `name` for what is not text, and for a lone surrogate, which would become another character.
 */
export function checkText(name: string, text: string): string {
  if (typeof text !== 'string' || !text.isWellFormed())
    throw new TypeError(`${name} must be well-formed text`);
  return text;
}
