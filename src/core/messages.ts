/**
 * The frame protocol, version 1: who sends what to whom. Each message is plain JSON with `channel`, `version` and `type`;
 * `session` names the `open` that a message belongs to. In `deploy`, `version` is the plugin's, in the protocol's place.
 * @internal
 */
export const CHANNEL = 'plugin-editor';
/** @internal */
export const VERSION = 1;

/** What the editor says. @internal */
export type EditorMessage =
  | { type: 'hello'; capabilities?: string[] }
  | { type: 'ready'; session: string }
  | { type: 'error'; session: string; message: string }
  | { type: 'token-request'; session: string; reason: TokenRequestReason }
  | { type: 'dirty'; session: string; dirty: boolean }
  | { type: 'save'; session: string }
  | { type: 'build'; session: string; succeeded: boolean; outputLog: string }
  | { type: 'test'; session: string; name?: string; result?: string; error?: unknown }
  | { type: 'deploy'; session: string; version: string };

/** Why an editor asks for a token: it has none, its time is over, or the builder refused it. */
export type TokenRequestReason = 'missing' | 'expired' | 'refused';

/** What the launcher says. `expiresAt` is ISO 8601. @internal */
export type LauncherMessage =
  | ({ type: 'open'; session: string } & PluginToOpen)
  | { type: 'token'; session: string; token: string; expiresAt?: string }
  | { type: 'token-failed'; session: string; code: string }
  | { type: 'close'; session: string };

/**
 * A message without the `session` that it is posted with.
 * @internal
 */
export type Unaddressed<T> = T extends unknown ? Omit<T, 'session'> : never;

/** What an editor is asked to open. */
export interface PluginToOpen {
  /** Base address of the builder interface. Whoever frames the editor chooses it: check that it is one you know. */
  builder: string;
  /** Environment, a period, tenant. */
  ident: string;
  /** Plugin namespace, `default` included. */
  namespace: string;
  /** Plugin name. */
  fn: string;
  /** Language for a new plugin. */
  template?: string;
  /** Editor token. */
  token: string;
  /** When the token ends, ISO 8601, by the clock of this machine; missing when nothing tells. */
  expiresAt?: string;
}

/**
 * How much is taken of what an editor says, in UTF-16 code units; the rest is cut off. The editor is of another origin: how
 * long the page is busy with a message must not depend on how long the message is.
 * @internal
 */
export const LIMITS = {
  /** Of `hello`: all of them together. */
  capabilities: 1000,
  /** Of `error`. */
  message: 500,
  /** Of `token-request`. */
  reason: 20,
  /** Of `build`. */
  outputLog: 65_536,
  /** Of `test`. */
  name: 1000,
  result: 65_536,
  /** Of `test`, where it may be any JSON: all texts and names of fields in it together. */
  error: 65_536,
  /** Of `deploy`. */
  version: 64,
};

/**
 * How many items and fields of `capabilities` and `error` are taken, of all levels together; so there are no more levels.
 * @internal
 */
export const MAX_VALUES = 200;
