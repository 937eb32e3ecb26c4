import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import type { AccessLocation } from '../../src/server/access-client.ts';
import type { AuthorizeResult } from '../../src/server/authorization.ts';
import { permissions as servicePermissions } from '../../service/src/plugins/permissions.ts';
import { type Permission, PERMISSIONS, checkGranted } from '../../src/server/permissions.ts';
import { IDENT, startEndpoint } from './endpoint-fixture.ts';

// The permissions and the actor of a token, from the result of `authorize` to the response, which fail closed.

const ACTOR = 'user-4711';
const NAMES = { hidden: 'a\u202eb', control: 'a\u0007', half: 'a\ud800' };
const answering = (json: object) => ({ path: '*', json: { token: 'editor-1', expires_in: 60, ...json } });

test('the package knows the same permissions as the service, in the same order', () => {
  assert.deepEqual(PERMISSIONS, servicePermissions);
});

describe('authorize that answers with { ident, permissions, actor }', () => {
  for (const [name, grant, query, confirmed] of [
    ['read alone', { permissions: ['read'] }, { permissions: 'read' }, { permissions: ['read'] }],
    [
      'write, which reads too',
      { permissions: ['write'] },
      { permissions: 'write' },
      { permissions: ['read', 'write'] },
    ],
    ['nothing but reading', { permissions: [] }, { permissions: 'read' }, { permissions: ['read'] }],
    [
      'all, in another order',
      { permissions: ['runs', 'deploy', 'write', 'read'] },
      { permissions: 'runs,deploy,write,read' },
      { permissions: ['read', 'write', 'deploy', 'runs'] },
    ],
    [
      'an actor',
      { actor: ACTOR },
      { actor: ACTOR },
      { permissions: ['read', 'write', 'deploy'], actor: ACTOR },
    ],
    ['an actor with spaces and signs', { actor: 'Ä & ö?' }, { actor: 'Ä & ö?' }, { actor: 'Ä & ö?' }],
    [
      'both',
      { permissions: ['read'], actor: ACTOR },
      { permissions: 'read', actor: ACTOR },
      { permissions: ['read'], actor: ACTOR },
    ],
    ['neither', {}, {}, { permissions: ['read', 'write', 'deploy'] }],
  ] as const) {
    test(`requests ${name}, and returns a token that confirms it`, async () => {
      const authorize = (): AuthorizeResult => ({ ident: [IDENT], ...grant });
      await using at = await startEndpoint({ authorize }, answering(confirmed));
      const { status, body } = await at.sendRequest();
      assert.deepEqual([status, body], [200, { token: 'editor-1', expires_in: 60 }]);
      const [request, ...more] = await at.builderRequests();
      assert.deepEqual(request?.query, query);
      assert.equal(more.length, 0);
    });
  }

  for (const [name, grant] of [
    ['a misspelt key', { permission: ['read'] }],
    ['a key of the target', { fn: 'add-record' }],
    ['a key that is a symbol', { [Symbol('permissions')]: ['read'] }],
    ['permissions that are undefined', { permissions: undefined }],
    ['an actor that is undefined', { actor: undefined }],
    ['permissions with a gap', { permissions: Object.assign([], { length: 1 }) }],
    ['an ident that is undefined', { ident: undefined }],
    ['permissions that are null', { permissions: null }],
    ['permissions as text', { permissions: 'read' }],
    ['an unknown permission', { permissions: ['read', 'admin'] }],
    ['a permission in another case', { permissions: ['Read'] }],
    ['a permission that is none', { permissions: [undefined] }],
    ['an empty actor', { actor: '' }],
    ['an actor that is a number', { actor: 7 }],
    ['a long actor', { actor: 'a'.repeat(201) }],
    ...Object.entries(NAMES).map(
      ([kind, actor]) => [`an actor with a ${kind} character`, { actor }] as const,
    ),
  ] as [string, object][]) {
    test(`responds with 500 before any request for ${name}, and onError is called`, async () => {
      await using at = await startEndpoint({ authorize: () => ({ ident: IDENT, ...grant }) });
      const { status, code } = await at.sendRequest();
      assert.deepEqual([status, code], [500, 'internal']);
      assert.deepEqual(await at.builderRequests(), []);
      assert.match(String(at.errors[0]), /^TypeError: authorize: /);
    });
  }

  // The second character has two UTF-16 code units.
  for (const character of ['ä', '\u{1F600}']) {
    test(`accepts an actor of 200 characters ${character}`, async () => {
      const actor = character.repeat(200);
      await using at = await startEndpoint(
        { authorize: () => ({ ident: IDENT, actor }) },
        answering({ actor }),
      );
      assert.equal((await at.sendRequest()).status, 200);
    });
  }

  test('is read once, so that what was checked is what is used', async () => {
    let reads = 0;
    const record = {
      ident: IDENT,
      get permissions(): Permission[] {
        return reads++ === 0 ? ['read'] : ['read', 'deploy'];
      },
    };
    await using at = await startEndpoint({ authorize: () => record }, answering({ permissions: ['read'] }));
    assert.equal((await at.sendRequest()).status, 200);
    assert.deepEqual((await at.builderRequests())[0]?.query, { permissions: 'read' });
  });
});

/** Responses of a service that differ from the request. */
const WRONG: [name: string, given: { permissions?: Permission[]; actor?: string }, said: object][] = [
  ['nothing, as one that knows no permissions', { permissions: ['read'] }, {}],
  ['more', { permissions: ['read'] }, { permissions: ['read', 'write'] }],
  ['less', { permissions: ['read', 'write'] }, { permissions: ['read'] }],
  ['others', { permissions: ['write'] }, { permissions: ['read', 'deploy'] }],
  ['text', { permissions: ['read'] }, { permissions: 'read' }],
  ['null', { permissions: ['read'] }, { permissions: null }],
  ['an object like a list', { permissions: ['read'] }, { permissions: { 0: 'read', length: 1 } }],
  ['no actor', { actor: ACTOR }, { permissions: ['read'] }],
  ['another actor', { actor: ACTOR }, { actor: 'user-4712' }],
  ['the actor in another case', { actor: ACTOR }, { actor: 'User-4711' }],
  ['a list with the actor', { actor: ACTOR }, { actor: [ACTOR] }],
];

describe('a token whose response differs from what was requested', () => {
  for (const [name, grant, response] of WRONG) {
    test(`is rejected with 502 when AccessClient gets ${name}`, async () => {
      await using at = await startEndpoint(
        { authorize: () => ({ ident: IDENT, ...grant }) },
        answering(response),
      );
      const { status, code, body } = await at.sendRequest();
      assert.deepEqual([status, code], [502, 'upstream-failed']);
      assert.ok(!JSON.stringify(body).includes('editor-1'));
      assert.equal((at.errors[0] as Error).name, 'SchemaError');
      assert.ok(!inspect(at.errors[0], { depth: null }).includes('editor-1'));
    });

    test(`is rejected with 502 when another client gets ${name}`, async () => {
      const record = { token: 'editor-1', ...response };
      await using at = await startEndpoint({
        authorize: () => ({ ident: IDENT, ...grant }),
        access: { getEditorToken: () => Promise.resolve(record) },
      });
      const { status, code } = await at.sendRequest();
      assert.deepEqual([status, code], [502, 'upstream-failed']);
      assert.equal((at.errors[0] as Error).name, 'SchemaError');
    });
  }

  test('is recognised for every pair of request and response', () => {
    const permission = fc.constantFrom<Permission>('read', 'write', 'deploy', 'runs');
    fc.assert(
      fc.property(
        fc.array(permission),
        fc.array(fc.oneof(permission, fc.string())),
        (requested, confirmed) => {
          const requestedSet = new Set<string>(['read', ...requested]);
          const confirmedSet = new Set(['read', ...confirmed]);
          const same =
            requestedSet.size === confirmedSet.size &&
            [...requestedSet].every((one) => confirmedSet.has(one));
          const check = () => checkGranted({ permissions: requested }, { permissions: confirmed }, 'here');
          if (same) check();
          else assert.throws(check, { name: 'SchemaError', path: 'permissions' });
        },
      ),
    );
  });
});

describe('AccessClient.getEditorToken', () => {
  for (const [name, grant] of [
    ['a misspelt key', { permission: ['read'] }],
    ['permissions that are undefined', { permissions: undefined }],
    ['an unknown permission', { permissions: ['write', 'all'] }],
    ['an actor that is undefined', { actor: undefined }],
    ['an empty actor', { actor: '' }],
  ] as [string, object][]) {
    test(`rejects ${name} with a TypeError, before any request`, async () => {
      await using at = await startEndpoint();
      const location = { identifier: IDENT, ext: 'a', ...grant } as AccessLocation;
      await assert.rejects(at.access.getEditorToken(location), TypeError);
      assert.deepEqual(await at.builderRequests(), []);
    });
  }
});

for (const record of [undefined, null, {}, { token: '' }, { token: 7 }]) {
  test(`a client that returns no token, but ${JSON.stringify(record)}, counts as a failure of the builder`, async () => {
    await using at = await startEndpoint({
      authorize: () => ({ ident: IDENT }),
      access: { getEditorToken: () => Promise.resolve(record as never) },
    });
    const { status, code } = await at.sendRequest();
    assert.deepEqual([status, code], [502, 'upstream-failed']);
  });
}
