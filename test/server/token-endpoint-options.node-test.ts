import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import { IDENT } from './endpoint-fixture.ts';

const GOOD = { access: { getEditorToken: () => Promise.resolve({ token: 't' }) }, authorize: () => IDENT };
const make = (changes: object) => createTokenEndpoint({ ...GOOD, ...changes });

describe('the options of createTokenEndpoint', () => {
  test('need only access and authorize', () => {
    assert.equal(typeof make({}), 'function');
  });

  for (const [name, changes, message] of [
    ['no authorize', { authorize: undefined }, 'authorize must be a function'],
    ['authorize: true', { authorize: true }, 'authorize must be a function'],
    ['no access', { access: undefined }, 'access must be an AccessClient, or a function that gives one'],
    ['access: {}', { access: {} }, 'access must be an AccessClient, or a function that gives one'],
    ['ext as text', { ext: 'add-record' }, 'ext must be a function'],
    ['onError: null', { onError: null }, 'onError must be a function'],
    ['one origin', { allowedOrigins: 'https://a.example' }, 'allowedOrigins must be an array of origins'],
  ] as const) {
    test(`throw at creation with ${name}`, () => {
      assert.throws(() => make(changes), { name: 'TypeError', message });
    });
  }

  for (const origin of [
    'https://a.example',
    'http://a.example:8080',
    'http://localhost:5173',
    'http://[::1]:5173',
    'https://xn--bcher-kva.example',
    'capacitor://localhost',
  ]) {
    test(`allow the origin ${origin}`, () => {
      assert.equal(typeof make({ allowedOrigins: [origin] }), 'function');
    });
  }

  const ALONE = '"https://app.example.com"';
  for (const [entry, should] of [
    ['https://a.example/', '"https://a.example"'],
    ['https://a.example/app', '"https://a.example"'],
    ['https://a.example?x', '"https://a.example"'],
    ['https://A.example', '"https://a.example"'],
    ['https://a.example:443', '"https://a.example"'],
    [' https://a.example', '"https://a.example"'],
    ['https://bücher.example', '"https://xn--bcher-kva.example"'],
    ['capacitor://localhost/', '"capacitor://localhost"'],
    ['*', ALONE],
    ['null', ALONE],
    ['', ALONE],
    ['a.example', ALONE],
    ['file:///a', ALONE],
    ['https://*.example', ALONE],
    [undefined, ALONE],
    [/a/, ALONE],
  ] as const) {
    test(`refuse ${String(entry)} as an origin, and suggest what it should be`, () => {
      assert.throws(() => make({ allowedOrigins: ['https://good.example', entry] }), {
        name: 'TypeError',
        message: `allowedOrigins: "${String(entry)}" is not an origin; it should be like ${should}`,
      });
    });
  }
});
