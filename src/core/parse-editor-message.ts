import { limitValue } from './limit-value.ts';
import { CHANNEL, type EditorMessage, LIMITS, MAX_VALUES, type Unaddressed, VERSION } from './messages.ts';
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
 * @param session what every message but `hello` has to name; without one there is none
 */
export function parseEditorMessage(
  data: unknown,
  session: string | undefined,
  tokens: readonly string[],
): Unaddressed<EditorMessage> | undefined {
  const posted = Object(data) as Record<string, unknown>;
  const { channel, version, type } = posted;
  if (channel !== CHANNEL || typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return undefined;
  if (version !== VERSION && type !== 'deploy') return undefined;
  if ((!session || posted['session'] !== session) && type !== 'hello') return undefined;
  const fields = FIELDS[type as EditorMessage['type']];
  const message: Record<string, unknown> = { type };
  for (const key of Object.keys(fields)) {
    const name = key.replace('?', '');
    const value = posted[name];
    if (value === undefined) continue;
    const max = (LIMITS as Partial<Record<string, number>>)[name] ?? 0;
    message[name] = limitValue(value, max, MAX_VALUES, tokens);
  }
  return schemaOf<Unaddressed<EditorMessage>>(fields).safeParse(message).data;
}
