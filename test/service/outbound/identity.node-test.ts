import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Identity } from '../../../service/src/outbound/identity.ts';
import { Secrets } from '../../../service/src/outbound/secrets.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { databaseWithSchema, engines, openDuring } from '../storage/databases.ts';
import { plugin } from '../storage/plugins.ts';

const context = { plugin, version: 'v1.0.0', runId: 'r', isTest: false };
const addresses = { issuer: 'https://a.example', audience: 'https://b.example' };

/** A storage, and how often it was used. */
function counted(storage: Storage) {
  const count = { uses: 0, isAway: false };
  const proxy = new Proxy(storage, {
    get(target, name) {
      count.uses += 1;
      if (count.isAway) throw new Error('The database is away.');
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { count, storage: proxy };
}

for (const engine of engines) {
  test(`${engine}: requests that are signed at once share one reading of the keys`, async (t) => {
    const { count, storage } = counted(await openDuring(t, await databaseWithSchema(t, engine)));
    let now = Date.now();
    const identity = new Identity(storage, new Secrets({ keys: [Buffer.alloc(32, 1)] }), () => now);
    await identity.prepare();
    const { keys } = await identity.keySet();
    for (const uses of [1, 0]) {
      count.uses = 0;
      if (uses) now += 600_001;
      const signed = await Promise.all(Array.from({ length: 100 }, () => identity.sign(context, addresses)));
      assert.equal(count.uses, uses);
      const [header = ''] = signed.map((token) => token.split('.')[0] ?? '');
      const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
      assert.equal(kid, keys[0]?.kid);
    }
  });

  test(`${engine}: while the database is away, requests are signed with the keys of the last hour`, async (t) => {
    const { count, storage } = counted(await openDuring(t, await databaseWithSchema(t, engine)));
    let now = Date.now();
    const identity = new Identity(storage, new Secrets({ keys: [Buffer.alloc(32, 1)] }), () => now);
    await identity.prepare();
    count.isAway = true;
    now += 3_599_999;
    await identity.sign(context, addresses);
    now += 1;
    // Another node may have let another key sign since, and this one is not published for ever.
    await assert.rejects(identity.sign(context, addresses), /is away/);
  });
}
