import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CallError } from '../../../service/src/outbound/call-error.ts';
import { Lookups } from '../../../service/src/outbound/lookups.ts';

const tenant = (environment: string, name = 'acme') => ({ environment, tenant: name, token: '' });

/** Look-ups whose names end with the returned function, but for those that begin with "quick". */
function makeLookups() {
  const hanging = Promise.withResolvers<readonly string[]>();
  const lookedUp: string[] = [];
  const lookups = new Lookups((name) => {
    lookedUp.push(name);
    return name.startsWith('quick') ? Promise.resolve(['192.0.2.1']) : hanging.promise;
  });
  return { lookups, lookedUp, end: () => hanging.resolve(['192.0.2.2']) };
}

test('a name that waits behind others of one environment is looked up for another at once', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.slow'));
  const waiting = lookups.addresses('quick.example', tenant('com.slow'));
  const other = lookups.addresses('quick.example', tenant('com.example'));
  await setImmediate();
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
  assert.deepEqual(await other, ['192.0.2.1']);
  end();
  assert.deepEqual(await Promise.all([slow, waiting]), [['192.0.2.2'], ['192.0.2.1']]);
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
});

test('a tenant for whom too many names wait is refused alone', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const many = Array.from({ length: 101 }, (_, i) =>
    lookups.addresses(`slow${i}.example`, tenant('com.slow')),
  );
  const refused = lookups.addresses('quick.example', tenant('com.slow'));
  const others = ['com.slow', 'com.example'].map((environment) =>
    lookups.addresses('quick.example', tenant(environment, 'other')),
  );
  await assert.rejects(refused, (error) => error instanceof CallError && error.code === 'too-many-calls');
  end();
  assert.deepEqual(await Promise.all(others), [['192.0.2.1'], ['192.0.2.1']]);
  await Promise.all(many);
  assert.equal(lookedUp.filter((name) => name === 'quick.example').length, 1);
});

test('tenants of one environment that wait for the same name take one turn', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.example'));
  const all = Array.from({ length: 1000 }, (_, i) =>
    lookups.addresses('quick.example', tenant('com.example', `tenant-${i}`)),
  );
  end();
  assert.equal(new Set((await Promise.all(all)).flat()).size, 1);
  await slow;
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
});
