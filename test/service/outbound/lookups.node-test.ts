import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CallError } from '../../../service/src/outbound/call-error.ts';
import type { CallErrorCode } from '../../../service/src/outbound/call-error.ts';
import { Lookups } from '../../../service/src/outbound/lookups.ts';

const tenant = (environment: string, name = 'acme') => ({ environment, tenant: name, token: '' });

const isCode = (code: CallErrorCode) => (error: unknown) => error instanceof CallError && error.code === code;

/** Look-ups of names that have their addresses when `end` is called, but for those that begin with "quick". */
function makeLookups() {
  const hanging = new Map<string, PromiseWithResolvers<readonly string[]>>();
  const resolvers = (name: string) => {
    const found = hanging.get(name) ?? Promise.withResolvers<readonly string[]>();
    hanging.set(name, found);
    return found;
  };
  const lookedUp: string[] = [];
  const lookups = new Lookups((name) => {
    lookedUp.push(name);
    return name.startsWith('quick') ? Promise.resolve(['192.0.2.1']) : resolvers(name).promise;
  });
  const end = (name: string, addresses: readonly string[] = ['192.0.2.2']) =>
    resolvers(name).resolve(addresses);
  return { lookups, lookedUp, end };
}

/** Mocks the clock. The returned function lets `time` ms pass. */
function mockTime(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1;
  t.mock.method(performance, 'now', () => now);
  return (time: number) => {
    now += time;
    t.mock.timers.tick(time);
  };
}

test('a name that waits behind others of one environment is looked up for another at once', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.slow'));
  const waiting = lookups.addresses('quick.example', tenant('com.slow'));
  const other = lookups.addresses('quick.example', tenant('com.example'));
  await setImmediate();
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
  assert.deepEqual(await other, ['192.0.2.1']);
  end('slow.example');
  assert.deepEqual(await Promise.all([slow, waiting]), [['192.0.2.2'], ['192.0.2.1']]);
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
});

test('a name that waits behind others of one tenant is looked up at the turn of another', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const first = lookups.addresses('slow0.example', tenant('com.example'));
  void lookups.addresses('slow1.example', tenant('com.example'));
  const all = ['acme', 'other'].map((name) =>
    lookups.addresses('quick.example', tenant('com.example', name)),
  );
  end('slow0.example');
  await first;
  await setImmediate();
  assert.deepEqual(lookedUp, ['slow0.example', 'quick.example', 'slow1.example']);
  assert.deepEqual(await Promise.all(all), [['192.0.2.1'], ['192.0.2.1']]);
});

test('a name that is looked up for several environments takes one turn', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const all = ['com.one', 'com.two'].map((environment) =>
    lookups.addresses('slow.example', tenant(environment)),
  );
  assert.deepEqual(await lookups.addresses('quick.example', tenant('com.example')), ['192.0.2.1']);
  end('slow.example');
  assert.deepEqual(await Promise.all(all), [['192.0.2.2'], ['192.0.2.2']]);
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example']);
});

test('names that others look up leave the queue', async () => {
  const { lookups, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.slow'));
  const names = Array.from({ length: 101 }, (_, i) => `quick${i}.example`);
  const waiting = names.slice(1).map((name) => lookups.addresses(name, tenant('com.slow')));
  for (const name of names) await lookups.addresses(name, tenant('com.example'));
  await Promise.all(waiting);
  const last = lookups.addresses('quick.example', tenant('com.slow'));
  end('slow.example');
  await Promise.all([slow, last]);
});

test('a tenant for whom too many names wait is refused alone', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const names = Array.from({ length: 101 }, (_, i) => `slow${i}.example`);
  const many = names.map((name) => lookups.addresses(name, tenant('com.slow')));
  const refused = lookups.addresses('quick.example', tenant('com.slow'));
  const others = ['com.slow', 'com.example'].map((environment) =>
    lookups.addresses('quick.example', tenant(environment, 'other')),
  );
  await assert.rejects(refused, isCode('too-many-calls'));
  for (const name of names) end(name);
  assert.deepEqual(await Promise.all(others), [['192.0.2.1'], ['192.0.2.1']]);
  await Promise.all(many);
  assert.equal(lookedUp.filter((name) => name === 'quick.example').length, 1);
});

test('a tenant for whom too many names wait is served with one that others wait for', async () => {
  const { lookups, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.example'));
  const names = Array.from({ length: 100 }, (_, i) => `quick${i}.example`);
  const many = names.map((name) => lookups.addresses(name, tenant('com.example')));
  const other = lookups.addresses('quick.example', tenant('com.example', 'other'));
  const shared = lookups.addresses('quick.example', tenant('com.example'));
  end('slow.example');
  assert.deepEqual(await Promise.all([slow, other, shared]), [['192.0.2.2'], ['192.0.2.1'], ['192.0.2.1']]);
  await Promise.all(many);
});

test('a tenant waits for a name once', async () => {
  const { lookups, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.example'));
  const many = Array.from({ length: 100 }, () => lookups.addresses('quick.example', tenant('com.example')));
  const another = lookups.addresses('quick-too.example', tenant('com.example'));
  end('slow.example');
  await Promise.all([slow, ...many, another]);
});

test('tenants of one environment that wait for the same name share its look-up, and none is refused another', async () => {
  const { lookups, lookedUp, end } = makeLookups();
  const slow = lookups.addresses('slow.example', tenant('com.example'));
  const all = Array.from({ length: 1000 }, (_, i) =>
    lookups.addresses('quick.example', tenant('com.example', `tenant-${i}`)),
  );
  const another = lookups.addresses('quick-too.example', tenant('com.example', 'other'));
  end('slow.example');
  assert.equal(new Set((await Promise.all(all)).flat()).size, 1);
  await Promise.all([slow, another]);
  assert.deepEqual(lookedUp, ['slow.example', 'quick.example', 'quick-too.example']);
});

test('what a look-up led to is kept from when it ends, however long it takes', async (t) => {
  for (const [addresses, kept] of [
    [['192.0.2.2'], 10_000],
    // Twice as long as it took.
    [[], 40_000],
  ] as const) {
    const pass = mockTime(t);
    const { lookups, lookedUp, end } = makeLookups();
    const look = (environment: string) => {
      const found = lookups.addresses('slow.example', tenant(environment));
      return addresses.length ? found : assert.rejects(found, isCode('unreachable'));
    };
    const first = look('com.one');
    await setImmediate();
    pass(20_000);
    const second = look('com.two');
    await setImmediate();
    end('slow.example', addresses);
    await Promise.all([first, second]);
    pass(kept - 1);
    await look('com.one');
    assert.deepEqual(lookedUp, ['slow.example']);
    pass(2);
    await look('com.one');
    await setImmediate();
    assert.deepEqual(lookedUp, ['slow.example', 'slow.example']);
    t.mock.reset();
  }
});

test('names that hang for two environments delay no name of another that was found before', async (t) => {
  const pass = mockTime(t);
  const { lookups, lookedUp, end } = makeLookups();
  const look = () => lookups.addresses('quick.example', tenant('com.example'));
  await look();
  const slow = ['slow0.example', 'slow1.example'];
  const hanging = slow.map((name, i) => lookups.addresses(name, tenant(`com.slow${i}`)));
  await setImmediate();
  for (const time of [10_000, 49_999]) {
    pass(time);
    assert.deepEqual(await look(), ['192.0.2.1']);
  }
  assert.deepEqual(lookedUp, ['quick.example', ...slow]);
  for (const name of slow) end(name);
  await Promise.all(hanging);
  await setImmediate();
  assert.deepEqual(lookedUp, ['quick.example', ...slow, 'quick.example']);
});

test('where a name cannot be looked up again its addresses are used for up to a minute', async (t) => {
  const pass = mockTime(t);
  let lookUps = 0;
  const lookups = new Lookups(() => Promise.resolve(lookUps++ ? [] : ['192.0.2.1']));
  const look = () => lookups.addresses('api.example', tenant('com.example'));
  for (const [time, expected] of [
    [0, 1],
    [10_000, 2],
    [4999, 2],
    [1, 3],
    [44_999, 4],
  ] as const) {
    pass(time);
    assert.deepEqual(await look(), ['192.0.2.1']);
    await setImmediate();
    assert.equal(lookUps, expected);
  }
  pass(2);
  await assert.rejects(look(), isCode('unreachable'));
});
