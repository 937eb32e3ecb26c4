import { mebibyte } from '../../units.ts';

/** The limits of language help. */
export const helpLimits = {
  /** The longest source that is helped with, in UTF-16 code units. */
  source: 262_144,
  /** Milliseconds for one request: a later result is of no use to somebody who is typing. */
  time: 4_000,
  /** Bytes of memory, of the process and the native language server together. */
  memory: 384 * mebibyte,
  /** A process that holds more than this after a request, in bytes, is replaced. */
  recycleAt: 256 * mebibyte,
  /** How many completions. Where there are more, only those that begin with the typed word are returned. */
  completions: 1000,
  /** UTF-16 code units of a completion's label, and of each other single-line text. */
  label: 200,
  /** UTF-16 code units of a text for people: of a hover, or of the documentation of a completion or a signature. */
  documentation: 8_000,
  /** How many signatures of a call, parameters of a signature, and fixes or definitions for a place are returned. */
  signatures: 20,
  parameters: 50,
  fixes: 20,
  /** How many text edits one result has. A result with more would change half of the source, and is left out. */
  edits: 5_000,
  /** Bytes of JSON of one reply. */
  reply: mebibyte,
} as const;
