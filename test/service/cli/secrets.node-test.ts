import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { migrate } from '../../../service/src/cli/migrate.ts';
import { valueContext } from '../../../service/src/outbound/calls.ts';
import { Identity } from '../../../service/src/outbound/identity.ts';
import { Secrets } from '../../../service/src/outbound/secrets.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import {
  findConnectionValues,
  setConnectionValue,
} from '../../../service/src/storage/tables/connection-values.ts';
import { addWebhook, replaceSecret } from '../../../service/src/storage/tables/webhooks.ts';
import { secretContext } from '../../../service/src/webhooks/sender.ts';
import { temporaryDirectory } from '../harness.ts';
import {
  databaseWithSchema,
  engines,
  freshDatabase,
  openDuring,
  postgresTest,
  sqliteTest,
} from '../storage/databases.ts';
import { plugin, seedTenant } from '../storage/plugins.ts';
import { checkDatabase, runHere } from './service-command.ts';

const [oldest, former, current, other] = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte));
const toText = (...keys: (Buffer | undefined)[]) => keys.map((key) => key?.toString('base64')).join(' ');

/** What `check` says of the secrets. */
async function checkSecrets(t: TestContext, address: DatabaseAddress, SECRETS_KEY?: string): Promise<string> {
  const env = { DATA_DIR: temporaryDirectory(t), ...(SECRETS_KEY !== undefined && { SECRETS_KEY }) };
  const out = await checkDatabase(address, env);
  return /^\w+ +secrets: .*$/m.exec(out)?.[0] ?? '';
}

const texts = ['one', 'two', 'three'];

/** A database with secrets of two keys: three values, a key of identities, and a webhook whose secret was replaced. */
async function databaseWithSecrets(t: TestContext, engine: (typeof engines)[number]) {
  const address = await databaseWithSchema(t, engine);
  const storage = await openDuring(t, address);
  await seedTenant(storage);
  const [first, second] = [new Secrets({ keys: [oldest!] }), new Secrets({ keys: [former!] })];
  const { environment, namespace } = plugin;
  const ids = await storage.transaction(async (db) => {
    for (const connection of texts) {
      const sealed = first.seal(connection, valueContext(plugin, { tenantId: 0 }, connection));
      await setConnectionValue(db, { environment, namespace, connection, ownerId: 0 }, { sealed }, 0);
    }
    const added = await addWebhook(db, {
      environment,
      url: 'https://a.example',
      events: ['plugin.live'],
      description: undefined,
      now: 0,
      seal: (webhook) => first.seal('hook', secretContext(webhook)),
    });
    const id = added?.id ?? '';
    const sealed = second.seal('hook 2', secretContext(id));
    await replaceSecret(db, { environment, id }, sealed, Date.now() + 60_000);
    return { webhook: id };
  });
  await new Identity(storage, first, Date.now).prepare();
  return { address, storage, ...ids };
}

for (const engine of engines) {
  test(`${engine}: migrate encrypts with the first key what has another one, and check counts it`, async (t) => {
    const { address, storage, webhook } = await databaseWithSecrets(t, engine);
    assert.match(
      await checkSecrets(t, address, toText(oldest, former)),
      /^warning +secrets: 1 of 6 have another/,
    );
    assert.match(
      await checkSecrets(t, address, toText(current, former)),
      /^warning +secrets: 5 of 6 cannot be read, because SECRETS_KEY does not hold their key/,
    );
    assert.match(await checkSecrets(t, address, toText(current)), /^failed +secrets: 6 of 6 cannot be read/);
    const env = { SECRETS_KEY: toText(current, former, oldest) };
    for (const renewed of [6, 0]) {
      const { out, err } = await runHere(t, migrate, address, [], env);
      assert.equal(err, '');
      assert.equal(
        out.trimEnd().split('\n').at(-1),
        `Encrypted with the first key of SECRETS_KEY: ${renewed} that had another one`,
      );
    }
    assert.equal(
      await checkSecrets(t, address, toText(current)),
      'ok       secrets: the current key encrypts all 6',
    );

    const secrets = new Secrets({ keys: [current!] });
    for (const connection of texts) {
      const values = await findConnectionValues(storage.db, plugin, connection);
      const context = valueContext(plugin, { tenantId: 0 }, connection);
      assert.equal(secrets.open(values?.environment?.sealed ?? '', context), connection);
    }
    const hooks = await storage.db.query
      .selectFrom('webhooks')
      .select(['sealed_secret', 'former_secret'])
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      [hooks.sealed_secret, hooks.former_secret].map((one) =>
        secrets.open(one ?? '', secretContext(webhook)),
      ),
      ['hook 2', 'hook'],
    );
    const context = { plugin, version: 'v1.0.0', runId: 'r', isTest: false };
    const identity = new Identity(storage, secrets, Date.now);
    assert.match(
      await identity.sign(context, { issuer: 'https://a.example', audience: 'https://b.example' }),
      /^ey/,
    );
  });
}

sqliteTest('migrate leaves what no key can decrypt, says so, and goes on with the rest', async (t) => {
  const { address, storage } = await databaseWithSecrets(t, 'sqlite');
  const damaged = new Secrets({ keys: [oldest!] }).seal('moved', ['elsewhere']);
  await storage.db.query
    .updateTable('connection_values')
    .set({ sealed: damaged })
    .where('connection', '=', 'one')
    .execute();
  const env = { SECRETS_KEY: toText(other, oldest) };
  const { out, err } = await runHere(t, migrate, address, [], env);
  assert.match(out, /: 4 that had another one$/m);
  assert.match(err, /^Could not be decrypted, and left as they are: 1\. Set /m);
});

sqliteTest('check says that a key file is missing, which no backup has', async (t) => {
  const { address, storage } = await databaseWithSecrets(t, 'sqlite');
  const counted = (count: number) =>
    new RegExp(
      String.raw`^failed +secrets: ${count} of ${count} cannot be read, because .*secrets\.key is not there`,
    );
  assert.match(await checkSecrets(t, address), counted(6));
  // A former secret of a webhook is not needed once it has ended.
  await storage.db.query.updateTable('webhooks').set({ former_ends_at: 1 }).execute();
  assert.match(await checkSecrets(t, address), counted(5));
});

postgresTest('check says that PostgreSQL needs SECRETS_KEY, also before the first start', async (t) => {
  for (const address of [await databaseWithSchema(t, 'postgres'), await freshDatabase(t, 'postgres')])
    assert.match(await checkSecrets(t, address), /^warning +secrets: SECRETS_KEY is not set/);
});
