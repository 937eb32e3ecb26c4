import {
  CHANNEL,
  type EditorMessage,
  type EditorMessages,
  LIMITS,
  MAX_ASSIST_VALUES,
  MAX_VALUES,
  VERSION,
} from './messages.ts';
import { isFlag, isRecordList, isText, isTextList, truncateJson } from './untrusted.ts';

type Guard = (value: unknown) => boolean;

/** The guard of every field of a message. A question mark ends the name of an optional field. */
type FieldGuards<Message> = {
  [Field in keyof Message & string as undefined extends Message[Field] ? `${Field}?` : Field]-?: Guard;
};

/** The fields of each message, besides `session`. */
const FIELDS: { [Type in keyof EditorMessages]: FieldGuards<EditorMessages[Type]> } = {
  hello: { 'capabilities?': isTextList },
  ready: { 'language?': isText, 'exists?': isFlag, 'permissions?': isTextList },
  error: { message: isText },
  'token-request': { reason: (value) => isText(value) && /^(missing|expired|refused)$/.test(value) },
  dirty: { dirty: isFlag },
  save: {},
  'save-result': { request: isText, 'error?': isText },
  build: { succeeded: isFlag, outputLog: isText },
  test: { 'name?': isText, 'result?': isText, 'error?': () => true, 'passed?': isFlag },
  deploy: { version: isText, 'unchanged?': isFlag },
  live: { version: (value) => value === null || isText(value) },
  assist: {
    request: isText,
    prompt: isText,
    language: isText,
    source: isText,
    'tests?': isRecordList,
    'declarations?': isText,
    'problems?': isRecordList,
    'failures?': isRecordList,
  },
  'assist-stop': { request: isText },
};

/** The names of optional fields, each with its question mark. */
type OptionalField = {
  [Type in keyof EditorMessages]: Extract<keyof FieldGuards<EditorMessages[Type]>, `${string}?`>;
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
  const fields: Record<string, Guard> = FIELDS[type as EditorMessage['type']];
  // A field of this name takes the place of the protocol's version.
  if (version !== VERSION && !fields['version']) return undefined;
  const limits: Partial<Record<string, number>> = LIMITS[type as keyof typeof LIMITS] ?? {};
  const maxValues = type === 'assist' ? MAX_ASSIST_VALUES : MAX_VALUES;
  const message: Record<string, unknown> = { type };
  for (const [key, isValid] of Object.entries(fields)) {
    const name = key.replace('?', '');
    const isOptional = name !== key;
    if (posted[name] === undefined) {
      if (isOptional) continue;
      return undefined;
    }
    let value: unknown;
    try {
      value = truncateJson(posted[name], limits[name] ?? 0, maxValues, tokens);
    } catch {
      // It refers to itself, or is nested too deeply.
      return undefined;
    }
    if (isValid(value)) message[name] = value;
    else if (!isOptional || STRICT_FIELDS.includes(key)) return undefined;
  }
  return message as unknown as EditorMessage;
}
