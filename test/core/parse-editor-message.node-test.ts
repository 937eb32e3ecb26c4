import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { type EditorMessage, LIMITS, MAX_VALUES } from '../../src/core/messages.ts';
import { parseEditorMessage } from '../../src/core/parse-editor-message.ts';

const all = { channel: 'plugin-editor', version: 1 };
const session = 's';

const parse = (data: unknown) => parseEditorMessage(data, session, []);

const good: (EditorMessage & { session?: string })[] = [
  { type: 'hello' },
  { type: 'hello', capabilities: [] },
  { type: 'hello', capabilities: ['open', 'later'] },
  { type: 'ready', session },
  { type: 'error', session, message: '' },
  { type: 'token-request', session, reason: 'missing' },
  { type: 'token-request', session, reason: 'expired' },
  { type: 'token-request', session, reason: 'refused' },
  { type: 'dirty', session, dirty: false },
  { type: 'save', session },
  { type: 'build', session, succeeded: false, outputLog: '' },
  { type: 'test', session },
  { type: 'test', session, name: 'n', result: 'r', error: null },
  { type: 'deploy', session, version: 'v1.0.0' },
  { type: 'ready', session, language: 'typescript', exists: true, permissions: ['read', 'write'] },
  { type: 'save-result', session, request: '1' },
  { type: 'save-result', session, request: '1', error: 'no' },
  { type: 'test', session, result: 'r', passed: false },
  { type: 'deploy', session, version: 'v1.0.0', unchanged: true },
  { type: 'live', session, version: 'v1.0.0' },
  { type: 'live', session, version: null },
  { type: 'assist-stop', session, request: '1' },
  { type: 'assist', session, request: '1', prompt: 'p', language: 'l', source: 's' },
  {
    type: 'assist',
    session,
    request: '1',
    prompt: 'p',
    language: 'l',
    source: 's',
    tests: [{ name: 'n', payload: '1' }],
    declarations: 'd',
    problems: [{ message: 'm', severity: 'error', line: 1, column: 2 }],
    failures: [{ name: 'n', expected: { a: 1 }, result: '2', error: { code: 'c' } }],
  },
];

/** Fields that were added to the protocol later: one of another type is left out, and the message is still accepted. */
const younger: [message: Record<string, unknown>, taken: Record<string, unknown>][] = [
  [{ type: 'ready', language: 7, exists: 'yes', permissions: 'read' }, { type: 'ready' }],
  [
    { type: 'ready', permissions: ['read', 7], exists: false },
    { type: 'ready', exists: false },
  ],
  [
    { type: 'test', name: 'n', passed: 1 },
    { type: 'test', name: 'n' },
  ],
  [
    { type: 'deploy', version: 'v1', unchanged: null },
    { type: 'deploy', version: 'v1' },
  ],
  [
    { type: 'save-result', request: '1', error: {} },
    { type: 'save-result', request: '1' },
  ],
  [
    {
      type: 'assist',
      request: '1',
      prompt: 'p',
      language: 'l',
      source: 's',
      tests: 'all',
      declarations: 7,
      problems: [1],
      failures: {},
    },
    { type: 'assist', request: '1', prompt: 'p', language: 'l', source: 's' },
  ],
];

const bad: [why: string, message: unknown][] = [
  ['no object', null],
  ['text', 'hello'],
  ['a list', [all]],
  ['no channel', { version: 1, type: 'hello' }],
  ['another channel', { ...all, channel: 'other', type: 'hello' }],
  ['another version', { ...all, version: 2, type: 'hello' }],
  ['a version as text', { ...all, version: '1', type: 'hello' }],
  ['no type', all],
  ['an unknown type', { ...all, type: 'open', session }],
  ['a type that objects have', { ...all, type: 'toString', session }],
  ['a type that is a list', { ...all, type: ['save'] }],
  ['a type that cannot be text', { ...all, type: { toString: 1, valueOf: 1 } }],
  ['capabilities that are no list', { ...all, type: 'hello', capabilities: 'open' }],
  ['a capability that is no text', { ...all, type: 'hello', capabilities: [7] }],
  ['no session', { ...all, type: 'save' }],
  ['a session that is no text', { ...all, type: 'save', session: 1 }],
  ['another session', { ...all, type: 'save', session: 's2' }],
  ['an unknown reason', { ...all, type: 'token-request', session, reason: 'expired!' }],
  ['a flag as text', { ...all, type: 'dirty', session, dirty: 'true' }],
  ['a build without its log', { ...all, type: 'build', session, succeeded: true }],
  ['a name that is no text', { ...all, type: 'test', session, name: null }],
  ['a deploy with the version of the protocol alone', { ...all, type: 'deploy', session }],
  ['a live version that is neither text nor null', { ...all, type: 'live', session, version: 1 }],
  [
    'a question without a prompt',
    { ...all, type: 'assist', session, request: '1', language: 'l', source: '' },
  ],
  ['a stop of no request', { ...all, type: 'assist-stop', session }],
  ['an answer to no request', { ...all, type: 'save-result', session }],
  ['a deploy without a channel', { type: 'deploy', session, version: 'v1.0.0' }],
];

const circular: unknown[] = [];
circular.push(circular);
bad.push([
  'a question that refers to itself',
  { ...all, type: 'assist', session, request: '1', prompt: 'p', language: 'l', source: 's', tests: circular },
]);

describe('parseEditorMessage()', () => {
  for (const message of good) {
    it(`accepts ${JSON.stringify(message)} without additional fields`, () => {
      const { session: _, ...taken } = { session, ...message };
      expect(parse({ ...all, ...message })).to.deep.equal(taken);
      expect(parse({ ...all, ...message, extra: {} })).to.deep.equal(taken);
    });
  }
  for (const [why, message] of bad) {
    it(`ignores ${why}`, () => {
      expect(parse(message)).to.equal(undefined);
    });
  }

  for (const [message, taken] of younger) {
    it(`leaves fields of another type out of ${JSON.stringify(message)}`, () => {
      expect(parse({ ...all, session, ...message })).to.deep.equal(taken);
    });
  }

  it('accepts only a greeting when there is no session', () => {
    for (const message of good) {
      for (const none of [undefined, '']) {
        const taken = parseEditorMessage({ ...all, ...message, session: none }, none, []);
        expect(taken?.type).to.equal(message.type === 'hello' ? 'hello' : undefined);
      }
    }
  });

  it('ignores a long text without running a pattern over much of it', () => {
    const long = 'missing'.repeat(1_000_000);
    expect(parse({ ...all, type: 'token-request', session, reason: long })).to.equal(undefined);
    expect(parse({ ...all, type: 'dirty', session, dirty: long })).to.equal(undefined);
    expect(parse({ ...all, type: long, session })).to.equal(undefined);
  });

  it('accepts a limited number of capabilities without reading the others', () => {
    const names = Array.from({ length: 1000 }, (_, i) => `c${i}`);
    const found = parse({ ...all, type: 'hello', capabilities: ['open', ...names, 7] });
    const { capabilities = [] } = found as { capabilities?: string[] };
    expect(capabilities.slice(0, 3)).to.deep.equal(['open', 'c0', 'c1']);
    expect(capabilities).to.have.length(MAX_VALUES);
    const long = parse({ ...all, type: 'hello', capabilities: ['x'.repeat(1e6), 'open'] });
    expect(long).to.deep.include({ capabilities: ['x'.repeat(LIMITS.hello.capabilities - 1) + '…', '…'] });
  });
});
