import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { type SessionRequest } from '../../src/server.ts';
import { ENVIRONMENT_TOKEN } from './endpoint-fixture.ts';
import { CREATED, TENANT, start } from './environment-operations.ts';

describe('createSession', () => {
  for (const [name, session, message] of [
    ['no scope', { fn: 'a' }, /^scope must be/],
    ['an unknown scope', { scope: 'environment' }, /^scope must be/],
    ['a scope that objects inherit', { scope: 'constructor' }, /^scope must be/],
    ['a plugin without a name', { scope: 'plugin' }, /^fn must be/],
    ['a plugin without a name, in a namespace', { scope: 'plugin', namespace: 'n' }, /^fn must be/],
    ['an undefined name', { scope: 'plugin', fn: undefined }, /^fn must be/],
    ['an empty name', { scope: 'plugin', fn: '' }, /^fn must be/],
    ['null as a name', { scope: 'plugin', fn: null }, /^fn must be/],
    ['an undefined namespace', { scope: 'plugin', fn: 'a', namespace: undefined }, /^namespace must be/],
    ['no namespace', { scope: 'namespace' }, /^namespace must be/],
    [
      'a plugin in the scope of a namespace',
      { scope: 'namespace', namespace: 'n', fn: 'a' },
      /^fn is not known here/,
    ],
    [
      'an undefined plugin there',
      { scope: 'namespace', namespace: 'n', fn: undefined },
      /^fn is not known here/,
    ],
    [
      'a namespace in the scope of a tenant',
      { scope: 'tenant', namespace: 'n' },
      /^namespace is not known here/,
    ],
    ['a stray key', { scope: 'tenant', pluginName: 'a' }, /^pluginName is not known here/],
    ['a stray key that is undefined', { scope: 'tenant', name: undefined }, /^name is not known here/],
    ['permissions that are undefined', { scope: 'tenant', permissions: undefined }, /^permissions must be/],
    ['an unknown permission', { scope: 'tenant', permissions: ['all'] }, /^permissions must be/],
    ['an actor that is undefined', { scope: 'tenant', actor: undefined }, /^actor must be/],
    ['a life that is undefined', { scope: 'tenant', expires_in: undefined }, /^expires_in must be/],
    ['a life that is too short', { scope: 'tenant', expires_in: 59 }, /^expires_in must be/],
    ['a life that is too long', { scope: 'tenant', expires_in: 86_401 }, /^expires_in must be/],
    ['half a second', { scope: 'tenant', expires_in: 60.5 }, /^expires_in must be/],
    ['a life as text', { scope: 'tenant', expires_in: '60' }, /^expires_in must be/],
  ] as [string, object, RegExp][]) {
    test(`rejects ${name} with a TypeError, before any request`, async () => {
      await using at = await start({}, { json: CREATED });
      await assert.rejects(at.client.createSession(TENANT, session as SessionRequest), {
        name: 'TypeError',
        message,
      });
      assert.deepEqual(await at.service.requests(), []);
    });
  }

  for (const [name, session, json, path] of [
    ['allows more than was asked for', { permissions: ['read'] }, {}, 'permissions'],
    ['is for somebody else', { actor: 'u-1' }, { actor: 'u-2' }, 'actor'],
    ['is for nobody', { actor: 'u-1' }, {}, 'actor'],
    ['is the environment token', {}, { token: ENVIRONMENT_TOKEN }, 'token'],
    ['is empty', {}, { token: '' }, 'token'],
  ] as [string, object, object, string][]) {
    test(`rejects a token that ${name}`, async () => {
      await using at = await start({}, { json: { ...CREATED, ...json } });
      const error: unknown = await at.client
        .createSession(TENANT, { scope: 'tenant', ...session })
        .catch((thrown: unknown) => thrown);
      assert.deepEqual([(error as Error).name, (error as { path?: string }).path], ['SchemaError', path]);
      assert.ok(!inspect(error, { depth: null, showHidden: true }).includes(ENVIRONMENT_TOKEN));
    });
  }
});
