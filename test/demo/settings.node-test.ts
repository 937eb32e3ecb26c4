import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, StartError } from '../../demo/settings.ts';

test('without anything set, the documented defaults hold', () => {
  assert.deepEqual(readSettings({}), {
    port: 5173,
    servicePort: 8082,
    editorTokenTtl: 900,
    editorAncestors: undefined,
    editorAddressTokens: true,
  });
});

test('what is set is used; an empty value is none', () => {
  assert.deepEqual(
    readSettings({
      PORT: ' 3000 ',
      SERVICE_PORT: '',
      EDITOR_TOKEN_TTL: '60',
      EDITOR_ANCESTORS: 'https://a.example, https://b.example  https://c.example,',
      EDITOR_ADDRESS_TOKENS: ' off ',
    }),
    {
      port: 3000,
      servicePort: 8082,
      editorTokenTtl: 60,
      editorAncestors: ['https://a.example', 'https://b.example', 'https://c.example'],
      editorAddressTokens: false,
    },
  );
});

test('separators alone name no ancestor', () => {
  assert.equal(readSettings({ EDITOR_ANCESTORS: ' , ' }).editorAncestors, undefined);
});

for (const value of ['no', 'OFF', 'false', '0', 'on off']) {
  test(`EDITOR_ADDRESS_TOKENS=${value} is refused by name`, () => {
    assert.throws(
      () => readSettings({ EDITOR_ADDRESS_TOKENS: value }),
      (error) =>
        error instanceof StartError &&
        error.message === `EDITOR_ADDRESS_TOKENS is "${value}"; it must be on or off.`,
    );
  });
}

test('any free port can be asked for, for both', () => {
  const { port, servicePort } = readSettings({ PORT: '0', SERVICE_PORT: '0' });
  assert.deepEqual([port, servicePort], [0, 0]);
});

for (const [name, value] of [
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['SERVICE_PORT', '80.5'],
  ['SERVICE_PORT', '0x50'],
  ['EDITOR_TOKEN_TTL', '0'],
  ['EDITOR_TOKEN_TTL', '15 min'],
] as const) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(
      () => readSettings({ [name]: value }),
      (error) =>
        error instanceof StartError && error.message.startsWith(`${name} is "${value}"; it must be a `),
    );
  });
}

test('one port for both is refused', () => {
  assert.throws(() => readSettings({ PORT: '8082' }), /PORT and SERVICE_PORT are both 8082/);
});
