import { limitValue } from './limit-value.ts';
import { CHANNEL, type EditorMessage, type EditorMessages, LIMITS, MAX_VALUES, VERSION } from './messages.ts';
import { type Shape, schemaOf } from './shapes.ts';

/** The shape of every field of a message. A question mark ends the name of an optional field. */
type FieldShapes<Message> = {
  [Field in keyof Message & string as undefined extends Message[Field] ? `${Field}?` : Field]-?: Shape;
};

/** The fields of each message, besides `session`. */
const FIELDS: { [Type in keyof EditorMessages]: FieldShapes<EditorMessages[Type]> } = {
  hello: { 'capabilities?': ['string'] },
  ready: { 'language?': 'string', 'exists?': 'boolean', 'permissions?': ['string'] },
  error: { message: 'string' },
  'token-request': { reason: /^(missing|expired|refused)$/ },
  dirty: { dirty: 'boolean' },
  save: {},
  'save-result': { request: 'string', 'error?': 'string' },
  build: { succeeded: 'boolean', outputLog: 'string' },
  test: { 'name?': 'string', 'result?': 'string', 'error?': null, 'passed?': 'boolean' },
  deploy: { version: 'string', 'unchanged?': 'boolean' },
  live: { version: 'string|null' },
};

/** The names of optional fields, each with its question mark. */
type OptionalField = {
  [Type in keyof EditorMessages]: Extract<keyof FieldShapes<EditorMessages[Type]>, `${string}?`>;
}[keyof EditorMessages];

/**
 * The optional fields that the protocol had from the beginning. A wrong type in one of these makes the whole message invalid.
 * Of an optional field that was added later, only the field is left out, as an older launcher does, which does not know it.
 */
const STRICT_FIELDS: readonly string[] = [
  'capabilities?',
  'name?',
  'result?',
] satisfies readonly OptionalField[];

/**
 * Reads an editor's message out of what a frame posted; `undefined` for anything else. The message has only the fields of
 * its type, cut to `LIMITS` and without any of these tokens. The time that this takes does not grow with the length of what
 * was posted.
 * @param session the session that every message but `hello` has to name; without one, only `hello` is read
 */
export function parseEditorMessage(
  data: unknown,
  session: string | undefined,
  tokens: readonly string[],
): EditorMessage | undefined {
  const posted = Object(data) as Record<string, unknown>;
  const { channel, version, type } = posted;
  if (channel !== CHANNEL || typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) return undefined;
  if ((!session || posted['session'] !== session) && type !== 'hello') return undefined;
  const fields: Record<string, Shape> = FIELDS[type as EditorMessage['type']];
  // A field of this name takes the place of the protocol's version.
  if (version !== VERSION && !fields['version']) return undefined;
  const limits: Partial<Record<string, number>> = LIMITS[type as keyof typeof LIMITS] ?? {};
  const message: Record<string, unknown> = { type };
  for (const [key, shape] of Object.entries(fields)) {
    const name = key.replace('?', '');
    if (posted[name] === undefined) continue;
    const value = limitValue(posted[name], limits[name] ?? 0, MAX_VALUES, tokens);
    if (name !== key && !STRICT_FIELDS.includes(key) && schemaOf(shape).safeParse(value).error) continue;
    message[name] = value;
  }
  return schemaOf<EditorMessage>(fields).safeParse(message).data;
}
