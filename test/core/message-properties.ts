import * as fc from 'fast-check';

import { parseEditorMessage } from '../../src/core/parse-editor-message.ts';
import { LIMITS } from '../../src/core/messages.ts';
import { redactTokens, truncateJson } from '../../src/core/untrusted.ts';
import { fitsProtocol, MESSAGE_TYPES, REASONS, SESSION, WHOLE } from './message-model.ts';

// Properties of what is done with an editor's messages, which hold for every input, in Node and in browsers. The
// caller chooses the number of runs: values like these take long to generate, and longer in browsers.

function check(holds: boolean, what: () => string): void {
  if (!holds) throw new Error(what());
}

/** How much text a value holds, and how many fields and items. */
export function measure(value: unknown): { text: number; values: number } {
  const total = { text: 0, values: 0 };
  const add = (part: unknown): void => {
    if (typeof part === 'string') total.text += part.length;
    if (typeof part !== 'object' || !part) return;
    for (const [key, item] of Object.entries(part)) {
      total.values++;
      if (!Array.isArray(part)) total.text += key.length;
      add(item);
    }
  };
  add(value);
  return total;
}

const SECRETS = ['token-1', 'token-123', 'eyJhbGciOiJub25lIn0.e30.', '"quoted"', '\\u0041bc'];
const secretText = fc.oneof(
  fc.string(),
  fc.tuple(fc.string(), fc.constantFrom(...SECRETS), fc.string()).map((parts) => parts.join('')),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    secretText,
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined), fc.bigInt()),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(secretText, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.dictionary(fc.constantFrom('type', 'message', 'code', '__proto__'), tie('value'), {
      noNullPrototype: true,
    }),
  ),
}));

const limitsHold = fc.property(
  fc.array(anyValue, { maxLength: 4 }),
  fc.nat({ max: 200 }),
  fc.nat({ max: 30 }),
  (list, max, values) => {
    const found = truncateJson(structuredClone(list), max, values, SECRETS);
    const json = JSON.stringify(found);
    for (const token of SECRETS) {
      check(!json.includes(JSON.stringify(token).slice(1, -1)), () => `${token} was kept in ${json}`);
    }
    const { text, values: count } = measure(found);
    check(count <= values, () => `${count} values were kept, where ${values} are allowed`);
    // Each text that did not fit leaves an ellipsis of one character.
    check(text <= max + 2 * values, () => `${text} characters were kept, where ${max} are allowed`);
  },
);

const token = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 5, maxLength: 12 });
const pieces = fc.array(
  fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.nat({ max: 2 }).map((n) => [n]),
  ),
  { maxLength: 12 },
);

const redactionIsWhole = fc.property(
  fc.array(token, { minLength: 3, maxLength: 3 }),
  pieces,
  fc.nat({ max: 60 }),
  (tokens, parts, max) => {
    const text = parts.map((part) => (typeof part === 'string' ? part : tokens[part[0] as number])).join(' ');
    const redacted = redactTokens(text, tokens, max);
    check(redacted.length <= Math.max(max, 1), () => `${redacted} is longer than ${max}`);
    for (const secret of tokens) check(!redacted.includes(secret), () => `${secret} was kept in ${redacted}`);
    if (text.length <= max) return;
    const kept = redacted.slice(0, -1);
    for (const secret of tokens) {
      check(!kept.endsWith(secret.slice(0, 5)), () => `a beginning of ${secret} was kept in ${redacted}`);
    }
  },
);

const parse = (data: unknown) => parseEditorMessage(data, SESSION, []);

const noMessageThrows = fc.property(
  fc.anything({ withNullPrototype: true, withMap: true, withDate: true }),
  (value) => {
    for (const message of [value, { ...WHOLE, ...Object(value) }, { ...WHOLE, type: value }]) parse(message);
  },
);

const absentOrAnything = fc.oneof(fc.constant(undefined), fc.anything());

/** Mostly what the protocol wants: one wrong part is enough for a message to be refused, whatever its other parts are. */
const mostly = <T>(right: fc.Arbitrary<T>, times: number, wrong: fc.Arbitrary<unknown> = absentOrAnything) =>
  fc.oneof({ arbitrary: right, weight: times }, { arbitrary: wrong, weight: 1 });

// So dense that 500 of them find one mistake of the parser in one field of one type of message.
const nearMessage = fc.record({
  type: mostly(
    fc.constantFrom(...MESSAGE_TYPES),
    MESSAGE_TYPES.length,
    fc.constantFrom('open', 'close', '__proto__', 'constructor'),
  ),
  session: mostly(fc.constant(SESSION), 3, fc.oneof(fc.string(), absentOrAnything)),
  capabilities: mostly(fc.array(fc.string()), 2, fc.anything()),
  message: mostly(fc.string(), 3),
  reason: mostly(fc.constantFrom(...REASONS), 1, fc.oneof(fc.string(), absentOrAnything)),
  dirty: mostly(fc.boolean(), 3),
  succeeded: mostly(fc.boolean(), 3),
  outputLog: mostly(fc.string(), 3),
  name: mostly(fc.string(), 2, fc.anything()),
  result: mostly(fc.string(), 2, fc.anything()),
  error: absentOrAnything,
  request: mostly(fc.string(), 3),
  language: mostly(fc.string(), 3),
  exists: mostly(fc.boolean(), 3),
  permissions: mostly(fc.array(fc.string()), 3),
  passed: mostly(fc.boolean(), 3),
  unchanged: mostly(fc.boolean(), 3),
  version: mostly(fc.constant(1), 6, fc.oneof(fc.constant(null), fc.string(), absentOrAnything)),
});

const acceptsTheProtocolAlone = fc.property(nearMessage, (message) => {
  const value = { ...WHOLE, ...message };
  const accepted = parse(value) !== undefined;
  check(accepted === fitsProtocol(value), () => `the message was ${accepted ? 'accepted' : 'ignored'}`);
});

const TOKENS = ['token-1', 'token-12', 'x'.repeat(2000), 'é'.repeat(5)];
const tokenText = fc
  .array(fc.oneof(fc.string(), fc.constantFrom(...TOKENS, 'y'.repeat(LIMITS.error.message))), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''));
const { value: valueWithTokens } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    tokenText,
    fc.array(tie('value')),
    fc.dictionary(tokenText, tie('value'), { noNullPrototype: true }),
  ),
}));
const messageWithTokens = fc.record({
  type: fc.constantFrom(...MESSAGE_TYPES),
  session: fc.constant(SESSION),
  capabilities: fc.array(tokenText),
  message: tokenText,
  reason: fc.constantFrom(...REASONS),
  dirty: fc.boolean(),
  succeeded: fc.boolean(),
  outputLog: tokenText,
  name: tokenText,
  result: tokenText,
  error: valueWithTokens,
  request: tokenText,
  language: tokenText,
  permissions: fc.array(tokenText),
  version: fc.oneof(fc.constant(1), tokenText),
  extra: valueWithTokens,
});

const noMessageKeepsAToken = fc.property(messageWithTokens, (fields) => {
  const found = JSON.stringify(parseEditorMessage({ ...WHOLE, ...fields }, SESSION, TOKENS)) ?? '';
  for (const secret of TOKENS) {
    check(!found.includes(secret), () => `a token of ${secret.length} characters was kept in ${found}`);
  }
});

export const MESSAGE_PROPERTIES = {
  'truncateJson() keeps no token, wherever it occurs, and no more than the limits allow': limitsHold,
  'redactTokens() leaves no token, nor five characters of one where the text is cut': redactionIsWhole,
  'parseEditorMessage() never throws, whatever the message is': noMessageThrows,
  'parseEditorMessage() accepts exactly what the protocol defines': acceptsTheProtocolAlone,
  'parseEditorMessage() never returns a token, wherever it occurs in a message': noMessageKeepsAToken,
};
