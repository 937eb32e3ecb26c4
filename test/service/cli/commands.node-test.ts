import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { TestContext } from 'node:test';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { createToken } from '../../../service/src/tokens.ts';
import { backup } from '../../../service/src/cli/backup.ts';
import { check } from '../../../service/src/cli/check.ts';
import { readArguments } from '../../../service/src/cli/env-token.ts';
import { UsageError } from '../../../service/src/cli/options.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { migrate } from '../../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../../service/src/storage/migrations/migrations.ts';
import { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { Builds } from '../../../service/src/toolchains/build/builds.ts';
import { openEngine, openStorage } from '../../../service/src/storage/storage.ts';
import type { Storage } from '../../../service/src/storage/storage.ts';
import { temporaryDirectory } from '../harness.ts';
import {
  cleanUpFirst,
  databaseWithSchema,
  engines,
  freshDatabase,
  openForInspection,
  openDuring,
  postgresTest,
  sqliteTest,
} from '../storage/databases.ts';
import { seedTenant, plugin, save, sourceOf, tokenFor } from '../storage/plugins.ts';
import { checkDatabase, runCommand, runHere } from './service-command.ts';
import { until } from '../../support/until.ts';
import { addCode } from '../../../service/src/storage/tables/verification-codes.ts';
import { findEnvironmentToken } from '../../../service/src/storage/tables/environments.ts';
import { addEditorToken, findEditorToken } from '../../../service/src/storage/tables/editor-tokens.ts';
import { overwriteDraft, readDraft } from '../../../service/src/storage/tables/drafts.ts';

const shownOf = (address: DatabaseAddress) => (address.engine === 'sqlite' ? address.file : address.shown);

/** A database with the schema of the first release. */
async function oldDatabase(t: TestContext, engine: (typeof engines)[number]): Promise<DatabaseAddress> {
  const address = await freshDatabase(t, engine);
  const opened = await openEngine(address);
  await migrate(opened, migrations.slice(0, 1));
  await opened.close();
  return address;
}

/** Stores a verification code for you@acme.com. */
const storeCode = (storage: Storage, now: number, expiresAt = now) =>
  storage.transaction((db) =>
    addCode(
      db,
      {
        email: 'you@acme.com',
        environment: 'com.acme',
        salt: new Uint8Array(16),
        hash: new Uint8Array(32),
        expiresAt,
      },
      now,
    ),
  );

for (const engine of engines) {
  test(`${engine}: migrate brings the schema up to date and ends, and can be repeated`, async (t) => {
    const address = await oldDatabase(t, engine);
    const folder = temporaryDirectory(t);
    // It needs no key, and thus none that can be read.
    writeFileSync(join(folder, 'secrets.key'), 'no key');
    const upToDate = `The schema is up to date: ${shownOf(address)}\n`;
    for (const [args, printed] of [
      [[], upToDate],
      [['--no-rollback'], `${upToDate}Older releases refuse to start on it from now on.\n`],
    ] as const) {
      const command = runCommand(t, address, ['migrate', ...args], { DATA_DIR: folder });
      assert.deepEqual(await command.done(), { status: 0, out: printed, err: '' });
    }
    const storage = await openDuring(t, address, { autoMigrate: false });
    assert.deepEqual(await storage.check(), { database: true, schema: true });
  });

  test(`${engine}: previous tokens of a holder end after the overlap, and those of other holders do not`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const storage = await openDuring(t, address);
    // As the command opens it beside a service.
    const commands = await openDuring(t, address);
    const make = (...args: string[]) => {
      const { environment, options } = readArguments(['com.acme', ...args]) ?? assert.fail();
      return provisionEnvironmentToken(commands, environment, Date.now(), options);
    };
    const find = async (token: string, after = 0) => {
      await storage.readChanges();
      const now = Date.now() + after * 1000;
      const [read, known] = [
        await findEnvironmentToken(storage.db, token, now),
        await storage.runs.environmentToken(token, now),
      ];
      assert.deepEqual(read, known);
      return read;
    };
    const shown = async (token: string, after = 0) => {
      const found = await find(token, after);
      return found && [found.environment, found.holder, ...found.scopes];
    };
    const all = ['run', 'access', 'access-deploy', 'read', 'manage'];
    const other = await make('--holder', 'billing', '--scopes', 'read,run');
    const first = await make();
    assert.deepEqual(await shown(first), ['com.acme', 'operator', ...all]);
    const second = await make('--overlap', '1000');
    const endsAt = (await find(first))?.endsAt ?? 0;
    assert.ok(endsAt > Date.now() + 900_000 && endsAt <= Date.now() + 1_000_000);
    assert.equal(await find(first, 1001), undefined);
    // A longer overlap prolongs nothing.
    const third = await make('--overlap', '86400');
    assert.equal((await find(first))?.endsAt, endsAt);
    assert.ok(((await find(second))?.endsAt ?? 0) > endsAt);
    const fourth = await make();
    for (const ended of [first, second, third]) assert.equal(await find(ended), undefined);
    assert.deepEqual(await shown(fourth), ['com.acme', 'operator', ...all]);
    assert.deepEqual(await shown(other, 10_000), ['com.acme', 'billing', 'run', 'read']);
  });

  test(`${engine}: of simultaneous tokens for one holder the last stays valid, and the others until the overlap ends`, async (t) => {
    const address = await databaseWithSchema(t, engine);
    const nodes = [await openDuring(t, address), await openDuring(t, address)];
    const options = { holder: 'a', overlap: 60 };
    const tokens = await Promise.all(
      Array.from({ length: 8 }, (_, i) => provisionEnvironmentToken(nodes[i % 2]!, 'com.acme', 0, options)),
    );
    const found = await Promise.all(tokens.map((token) => findEnvironmentToken(nodes[0]!.db, token, 1000)));
    assert.equal(found.filter((one) => one?.endsAt === 60_000).length, 7);
    assert.equal(found.filter((one) => one && one.endsAt === undefined).length, 1);
  });
}

sqliteTest('check reports each sound part on a line of its own', async (t) => {
  const address = await databaseWithSchema(t, 'sqlite');
  // That the compilers build is asked for in check.release-test.ts: all of them take long to start.
  const compiled = { program: {}, diagnostics: [] };
  t.mock.method(Builds.prototype, 'build', async () => ({ compiled }));
  const { out, err, exitCode } = await runHere(t, check, address, [], { RUN_TIMEOUT_MS: '20000' });
  assert.deepEqual([exitCode, err], [undefined, ''], out);
  assert.deepEqual(
    out
      .trimEnd()
      .split('\n')
      .map((line) => /^(?:ok|warning|failed) +(\w+): ./.exec(line)?.[1]),
    ['settings', 'database', 'schema', 'secrets', 'sandbox', 'isolation', 'toolchains'],
  );
  assert.match(out, /^ok +database: SQLite at /m);
  assert.match(out, /^ok +schema: up to date$/m);
  assert.match(out, /^ok +secrets: there are none yet$/m);
  assert.match(out, /^ok +sandbox: a plugin runs$/m);
  assert.match(out, /^(?:ok|warning) +isolation: /m);
  assert.match(out, /^ok +toolchains: .*javascript.* build$/m);
});

sqliteTest('check warns of settings that a service with a public address mostly needs', async () => {
  const warnings = async (env: Record<string, string>) =>
    [...(await checkDatabase(undefined, env)).matchAll(/^warning +settings: (\w+) is empty, so that /gm)].map(
      ([, name]) => name,
    );
  const publicUrl = { PUBLIC_URL: 'https://plugins.example.com' };
  assert.deepEqual(await warnings({}), []);
  assert.deepEqual(await warnings(publicUrl), ['EDITOR_ANCESTORS', 'TRUSTED_PROXIES']);
  const named = { EDITOR_ANCESTORS: 'https://app.example.com', TRUSTED_PROXIES: '10.0.0.0/8' };
  assert.deepEqual(await warnings({ ...publicUrl, ...named }), []);
});

postgresTest('check says that the clock differs from the one of the database', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  assert.doesNotMatch(await checkDatabase(address), /clock/);
  const { now } = Date;
  for (const [difference, expected] of [
    [60_000, /^warning  database: the clock of this machine is \d+ s ahead of the database's; /m],
    [-60_000, /^warning  database: the clock of this machine is \d+ s behind the database's; /m],
  ] as const) {
    const clock = t.mock.method(Date, 'now', () => now() + difference);
    assert.match(await checkDatabase(address), expected);
    clock.mock.restore();
  }
});

postgresTest('check says whether PostgreSQL keeps what it acknowledges', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  await (await openStorage(address)).close();
  const out = await checkDatabase(address);
  // The databases of tests are on no disk that lasts, so that PostgreSQL may be set to lose writes.
  const database = out.split('\n').find((line) => line.includes(' database: ')) ?? '';
  assert.match(database, / database: PostgreSQL \d+.* fsync is (?:on|off), synchronous_commit is \w+/);
  const isDurable = /fsync is on, synchronous_commit is on/.test(database);
  assert.equal(database.startsWith(isDurable ? 'ok ' : 'failed '), true, database);
  assert.match(out, /^ok +schema: up to date$/m);
});

sqliteTest('check reports what is wrong, and ends with exit code 1', async (t) => {
  const out = await checkDatabase(await oldDatabase(t, 'sqlite'), { AUTO_MIGRATE: 'off' });
  assert.match(out, /^failed +schema: older than this release, and AUTO_MIGRATE is off; run .* migrate$/m);
  const missing = await checkDatabase(await freshDatabase(t, 'sqlite'), { AUTO_MIGRATE: 'off' });
  assert.match(missing, /^failed +schema: not there yet, .* and AUTO_MIGRATE is off; run .* migrate$/m);

  const unreachable = { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/none' };
  const lost = await checkDatabase(undefined, unreachable);
  assert.match(lost, /^failed +database: .*postgres:\/\/me@127\.0\.0\.1:1\/none/m);
  assert.doesNotMatch(lost, /hunter2/);

  // Whether it goes on to the sandbox and the compilers is asked for, and not what they say, which takes long.
  t.mock.method(Sandbox.prototype, 'run', async () => ({ result: 'works', logs: [] }));
  t.mock.method(Builds.prototype, 'build', async () => ({ failed: 'not tried' }));
  const wrong = await runHere(t, check, undefined, [], { LOG_LEVEL: 'loud', DRAIN_SECONDS: 'x' });
  assert.equal(wrong.exitCode, 1);
  assert.match(wrong.out, /^failed +settings: LOG_LEVEL is "loud"; .* DRAIN_SECONDS is "x"; /m);
  assert.match(wrong.out, /^ok +sandbox: /m);
  assert.match(wrong.out, /^failed +toolchains: .*javascript: not tried/m);
});

sqliteTest(
  'check ends with exit code 1 and without a stack trace where its output is closed early',
  async (t) => {
    const command = runCommand(t, await databaseWithSchema(t, 'sqlite'), ['check']);
    const out = await command.printed(/^\w+ +schema: .*\n/m);
    command.stopReading();
    assert.doesNotMatch(out, /^failed/m);
    const { status, err } = await command.done();
    assert.deepEqual([status, err], [1, '']);
  },
);

sqliteTest('check changes nothing in the file that it examines', async (t) => {
  const { file } = (await freshDatabase(t, 'sqlite')) as { file: string };
  const { DatabaseSync } = await import('node:sqlite');
  const other = new DatabaseSync(file);
  other.exec('create table theirs (id integer)');
  other.close();
  const before = readFileSync(file);
  const out = await checkDatabase({ engine: 'sqlite', file });
  assert.match(out, /^ok +database: /m);
  assert.match(out, /^ok +schema: not there yet, because the database is empty; the next start brings/m);
  assert.match(out, /^ok +secrets: there are none yet$/m);
  assert.deepEqual(readFileSync(file), before);
  assert.deepEqual(readdirSync(dirname(file)), [basename(file)]);
});

sqliteTest(
  'check reports a DATA_DIR that is no folder, and a database file that is no database',
  async (t) => {
    const file = join(temporaryDirectory(t), 'data');
    writeFileSync(file, 'no database');
    for (const DATA_DIR of [file, join(file, 'sub')]) {
      const noFolder = await checkDatabase(undefined, { DATA_DIR });
      assert.match(
        noFolder,
        /^failed +database: .* cannot be made, because .*data is no folder; see DATA_DIR/m,
      );
    }
    const link = join(dirname(file), 'link');
    symlinkSync(join(dirname(file), 'not-mounted'), link);
    for (const DATA_DIR of [link, join(link, 'data')]) {
      const linked = await checkDatabase(undefined, { DATA_DIR });
      assert.match(
        linked,
        /^failed +database: .* cannot be made, because .*link is no folder; see DATA_DIR/m,
      );
    }
    const noDatabase = await checkDatabase({ engine: 'sqlite', file });
    assert.match(noDatabase, /^failed +database: .*data cannot be used: file is not a database/m);
  },
);

postgresTest(
  'check reports a read-only database, a role that may not create tables, and a role without rights',
  async (t) => {
    const address = await freshDatabase(t, 'postgres');
    assert.ok(address.engine === 'postgres');
    const db = await openForInspection(t, address);
    const url = new URL(address.url);
    const { pathname } = url;
    const checkWith = async (change: (url: URL) => void) => {
      const changed = new URL(address.url);
      change(changed);
      return checkDatabase(undefined, { DATABASE_URL: changed.href });
    };
    const standby = await checkWith(({ searchParams }) => {
      searchParams.set('options', '-c default_transaction_read_only=on');
    });
    assert.match(standby, /^failed +database: .* takes no writes, as a standby does; name the primary/m);

    const role = `checked_${pathname.slice(1)}`;
    await sql`create role ${sql.id(role)} login password 'secret'`.execute(db);
    cleanUpFirst(t, async () => {
      await sql`drop owned by ${sql.id(role)}`.execute(db);
      await sql`drop role ${sql.id(role)}`.execute(db);
    });
    await sql`revoke create on schema public from public`.execute(db);
    const asRole = (changed: URL) => Object.assign(changed, { username: role, password: 'secret' });
    const empty = await checkWith(asRole);
    assert.match(
      empty,
      /^failed +schema: not there yet, because the database is empty, and the role checked_\w+ may not create tables: grant it CREATE/m,
    );

    await (await openStorage(address)).close();
    const closed = await checkWith(asRole);
    assert.match(closed, /^failed +database: .*role checked_\w+ may not read and write \w+, /m);

    await sql`grant select, insert, update, delete on all tables in schema public to ${sql.id(role)}`.execute(
      db,
    );
    // A role that is not to change the schema is all that a running service needs.
    assert.match(await checkWith(asRole), /^ok +schema: up to date$/m);
  },
);

sqliteTest('check creates no database where there is none', async (t) => {
  const folder = temporaryDirectory(t);
  const address = { engine: 'sqlite', file: join(folder, 'data/service.sqlite') } as const;
  assert.match(await checkDatabase(address), /^ok +database: the first start makes /m);
  assert.deepEqual(readdirSync(folder), []);
});

sqliteTest(
  'a backup is a consistent copy of a file that is being written to, and holds no tokens',
  async (t) => {
    const address = await databaseWithSchema(t, 'sqlite');
    assert.ok(address.engine === 'sqlite');
    const storage = await openDuring(t, address);
    const token = await provisionEnvironmentToken(storage, 'com.acme');
    await provisionEnvironmentToken(storage, 'com.acme', Date.now(), { overlap: 600 });
    await seedTenant(storage);
    const editor = createToken('editor');
    await addEditorToken(storage.db, editor, tokenFor(plugin), Date.now(), Date.now() + 600_000);
    await storeCode(storage, Date.now());
    // Each write is of two plugins at once: a copy between the two would have only one of them.
    const second = { ...plugin, pluginName: 'second' };
    for (const one of [plugin, second]) await save(storage, 'first', one);
    let writes = 0;
    const done = new AbortController();
    const writing = (async () => {
      while (!done.signal.aborted) {
        await storage.transaction(async (db) => {
          for (const one of [plugin, second]) {
            await overwriteDraft(db, one, sourceOf(`${writes}`), { now: 0 });
          }
        });
        writes += 1;
        // SQLite answers at once: without this nothing else of this process would get its turn.
        await turn();
      }
    })();
    await until('something is written', () => writes > 10);
    const file = join(dirname(address.file), 'copy.sqlite');
    const key = randomBytes(32).toString('base64');
    const command = runCommand(t, address, ['backup', file], { SECRETS_KEY: key });
    const { status, out, err } = await command.done();
    done.abort();
    await writing;
    assert.deepEqual([status, err], [0, '']);
    assert.equal(
      out,
      `The backup is in ${file}. It holds no tokens. Its secrets can only be read with SECRETS_KEY: keep that, too.\n`,
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    // Nor does a row that was deleted remain in an unused page.
    assert.ok(!readFileSync(file).includes('you@acme.com'));
    assert.deepEqual(
      readdirSync(dirname(file)).filter((name) => name.startsWith('copy')),
      ['copy.sqlite'],
    );

    const copy = await openStorage({ engine: 'sqlite', file });
    cleanUpFirst(t, () => copy.close());
    const [one, other] = [await readDraft(copy.db, plugin), await readDraft(copy.db, second)];
    assert.ok(one && Number(one.source.contents) >= 10);
    assert.deepEqual(one.source, other?.source);
    assert.equal(await findEnvironmentToken(copy.db, token, Date.now()), undefined);
    assert.equal(await findEditorToken(copy.db, editor, Date.now()), undefined);
    // It can be written to as the original can.
    await save(copy, 'after');
    assert.match(await provisionEnvironmentToken(copy, 'com.acme'), /^pe_env_/);
  },
);

sqliteTest('backup overwrites no file, and for PostgreSQL it refers to pg_dump', async (t) => {
  const address = await freshDatabase(t, 'sqlite');
  await (await openStorage(address)).close();
  const file = join(temporaryDirectory(t), 'copy');
  writeFileSync(file, 'mine');
  const refusal = async (args: string[], env?: Record<string, string>) => {
    const done = runHere(t, backup, env ? undefined : address, args, env);
    return String(
      await done.then(
        () => assert.fail(args.join(' ')),
        (error: unknown) => error,
      ),
    );
  };
  assert.match(await refusal([file]), /^StartError: .* exists already; name a file that does not exist\.$/);
  assert.equal(readFileSync(file, 'utf8'), 'mine');
  const nowhere = join(dirname(file), 'no/such/folder');
  assert.match(await refusal([nowhere]), /^StartError: The backup .* cannot be written: /);
  assert.ok(!existsSync(nowhere));
  assert.match(await refusal([]), /^UsageError: The file to write is missing\./);
  const message = await refusal(['x'], { DATABASE_URL: 'postgres://me:hunter2@db.example/plugins' });
  assert.match(message, /^StartError: .* use pg_dump, /);
  assert.doesNotMatch(message, /hunter2/);
});

sqliteTest('env-token says what is wrong with a holder or an overlap', () => {
  for (const [args, message] of [
    [['com.acme', '--holder', ''], /^--holder is ""; it must be a name of 1 to 200 characters/],
    [['com.acme', '--holder', 'a\u202eb'], /^--holder is /],
    [
      ['com.acme', '--overlap', '86401'],
      /^--overlap is "86401"; it must be a whole number of seconds from 0 to 86400/,
    ],
    [['com.acme', '--overlap', '1.5'], /^--overlap is "1\.5"/],
    [['you@acme.com', '--overlap', '1'], /^--holder, --overlap and --scopes are for an environment alone/],
  ] as const) {
    const isMeant = (error: unknown) => error instanceof UsageError && message.test(error.message);
    assert.throws(() => readArguments([...args]), isMeant, args.join(' '));
  }
});
