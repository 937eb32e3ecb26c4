const mebibyte = 2 ** 20;

/** What language help gives and takes at the most. */
export const helpLimits = {
  /** The longest source that is helped with, in UTF-16 code units. */
  source: 262_144,
  /** Milliseconds for one request: an answer that comes later is of no use to who types. */
  time: 4_000,
  /** Bytes of memory, of the process and the native language server together. */
  memory: 384 * mebibyte,
  /** A process that holds this much after a request makes place for a fresh one. */
  recycleAt: 256 * mebibyte,
  /** How many completions; where there are more, those that fit what is typed come first. */
  completions: 1000,
  /** UTF-16 code units of a completion's label, and of each other text of one line. */
  label: 200,
  /** UTF-16 code units of a text for people: of a hover, or of the documentation of a completion or a signature. */
  documentation: 8_000,
  /** How many signatures a call has, parameters a signature has, and fixes a place has. */
  signatures: 20,
  parameters: 50,
  fixes: 20,
  /** How many changes of text one answer has; an answer with more would change half of the text, and is none. */
  edits: 5_000,
  /** Bytes of JSON of one answer. */
  reply: mebibyte,
} as const;
