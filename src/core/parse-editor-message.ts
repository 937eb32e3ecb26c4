import { limitValue } from './limit-value.ts';
import { CHANNEL, type EditorMessage, LIMITS, MAX_VALUES, VERSION } from './messages.ts';
import { type Shape, schemaOf } from './shapes.ts';

/** What each message has besides `session`. */
const FIELDS: Record<EditorMessage['type'], Record<string, Shape>> = {
  hello: { 'capabilities?': ['string'] },
  ready: {},
  error: { message: 'string' },
  'token-request': { reason: /^(missing|expired|refused)$/ },
  dirty: { dirty: 'boolean' },
  save: {},
  build: { succeeded: 'boolean', outputLog: 'string' },
  test: { 'name?': 'string', 'result?': 'string', 'error?': null },
  deploy: { version: 'string' },
};

/**
 * The message of an editor in what a frame posted, or `undefined` for anything else: the fields that belong to it, no more
 * of each than `LIMITS` say, and without any of these tokens. However much was posted, hardly more of it is read than taken.
 */
export function parseEditorMessage(data: unknown, tokens: readonly string[] = []): EditorMessage | undefined {
  const posted = Object(data) as Record<string, unknown>;
  const { channel, version, type, session } = posted;
  if (channel !== CHANNEL || typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return undefined;
  if (version !== VERSION && type !== 'deploy') return undefined;
  if (typeof session !== 'string' && type !== 'hello') return undefined;
  const fields = FIELDS[type as EditorMessage['type']];
  const message: Record<string, unknown> = { type, session };
  for (const key of Object.keys(fields)) {
    const name = key.replace('?', '');
    const value = posted[name];
    if (value === undefined) continue;
    message[name] = limitValue(
      value,
      (LIMITS as Partial<Record<string, number>>)[name] ?? 0,
      MAX_VALUES,
      tokens,
    );
  }
  return schemaOf<EditorMessage>(fields).safeParse(message).data;
}
