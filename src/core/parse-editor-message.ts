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
 * Reads an editor's message out of what a frame posted; `undefined` for anything else. The message has only the fields of
 * its type, cut to `LIMITS` and without any of these tokens. The work does not grow with the length of what was posted.
 * @param session what every message but `hello` has to name; without one, only `hello` is taken
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
