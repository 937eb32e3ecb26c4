import { type Shape, schemaOf } from './shapes.ts';

/**
 * The frame protocol, version 1: who sends what to whom. Each message is plain JSON with `channel`, `version` and `type`;
 * `session` names the `open` that a message belongs to. In `deploy`, `version` is the plugin's, in the protocol's place.
 */
export const CHANNEL = 'plugin-editor';
export const VERSION = 1;

/** What the editor says. */
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

/** What the launcher says. `expiresAt` is ISO 8601. */
export type LauncherMessage =
  | ({ type: 'open'; session: string } & PluginToOpen)
  | { type: 'token'; session: string; token: string; expiresAt?: string }
  | { type: 'token-failed'; session: string; code: string }
  | { type: 'close'; session: string };

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

const session = 'string';

const SHAPES: Record<EditorMessage['type'], Shape> = {
  hello: { 'capabilities?': ['string'] },
  ready: { session },
  error: { session, message: 'string' },
  'token-request': { session, reason: /^(missing|expired|refused)$/ },
  dirty: { session, dirty: 'boolean' },
  save: { session },
  build: { session, succeeded: 'boolean', outputLog: 'string' },
  test: { session, 'name?': 'string', 'result?': 'string' },
  deploy: { session, version: 'string' },
};

/** The message of an editor in what a frame posted, or `undefined` for anything else. */
export function parseEditorMessage(data: unknown): EditorMessage | undefined {
  const { channel, version, type } = Object(data) as Record<string, unknown>;
  if (channel !== CHANNEL || typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) return undefined;
  if (version !== VERSION && type !== 'deploy') return undefined;
  return schemaOf<EditorMessage>(SHAPES[type as EditorMessage['type']]).safeParse(data).data;
}
