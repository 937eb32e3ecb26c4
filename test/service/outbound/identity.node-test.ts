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
  const count = { uses: 0 };
  const proxy = new Proxy(storage, {
    get(target, name) {
      count.uses += 1;
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
}
