import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../service/harness.ts';
import { Connection } from '../support/connection.ts';
import { program } from '../soak/programs.ts';
import { Tally } from '../soak/tally.ts';
import { User } from '../soak/user.ts';
import { createOwnedDatabase, run, startDumpServer, textOf } from './dump.ts';
import { createEnvironmentToken, NodeProcess } from '../support/node-process.ts';
import { until } from '../support/until.ts';

/*
 * What docs/service/backup.md says, rehearsed: a backup is taken while others write, all is lost, and a service on what was
 * restored has every draft, every version and every secret that was acknowledged before the backup.
 */

const main = fileURLToPath(new URL('../../service/src/cli/main.ts', import.meta.url));

/** A server that plugins call, which answers only those that have the key. */
const key = 'the-key-of-rates';
const upstream = createServer(({ headers }, response) =>
  response.writeHead(headers['x-key'] === key ? 200 : 401).end(headers['x-key'] === key ? 'EUR' : 'refused'),
);
await once(upstream.listen(0, '127.0.0.1'), 'listening');
const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
after(() => {
  upstream.closeAllConnections();
  upstream.close();
});

/** A user whose plugin calls the server with the key, which the service keeps encrypted. */
async function fillWithSecret(node: NodeProcess, environmentToken: string, tally: Tally): Promise<User> {
  const connection = new Connection(node.origin);
  const put = async (path: string, value: object) => {
    const sent = { token: environmentToken, type: 'application/json', body: JSON.stringify(value) };
    const { status } = await connection.send('PUT', `/api/v1/environment/com.acme/${path}`, sent);
    assert.ok(status < 300, `${path} answers ${status}`);
  };
  const credential = { type: 'header', header: 'x-key' };
  await put('namespaces/linked', { connections: [{ name: 'rates', origin, credential }] });
  await put('connections/linked/rates', { value: key });
  const user = new User('com.acme.t0/linked/rates', tally);
  await user.signIn(connection, environmentToken);
  const contents = `export const run = async () => (await fetch('${origin}/')).text();\n`;
  await user.build({ lang: 'javascript', contents, expectedOutput: () => 'EUR', isSound: true }, false);
  await user.deploy();
  await user.run('x');
  connection.close();
  return user;
}

/** Users who have drafts, builds and versions by now, and do nothing more. */
function fill(node: NodeProcess, environmentToken: string, tally: Tally): Promise<User[]> {
  const languages = ['javascript', 'javascript', 'assemblyscript', 'javascript'];
  return Promise.all(
    languages.map(async (lang, i) => {
      const user = new User(`com.acme.t${i % 2}/default/plugin-${i}`, tally);
      const connection = new Connection(node.origin);
      await user.signIn(connection, environmentToken);
      for (let version = 0; version <= i; version++) {
        await user.build(program(lang, `u${i}-${version}`, 300), false);
        await user.deploy();
      }
      // The draft is ahead of what is deployed, and not built.
      await user.save(program(lang, `u${i}-draft`, 300));
      connection.close();
      return user;
    }),
  );
}

/** Writes until the function that it returns is called. Resolves once some is written. */
async function keepWriting(node: NodeProcess, environmentToken: string) {
  const tally = new Tally();
  const user = new User('com.acme.busy/default/busy', tally);
  const connection = new Connection(node.origin);
  await user.signIn(connection, environmentToken);
  const ending = new AbortController();
  let saves = 0;
  const writing = (async () => {
    while (!ending.signal.aborted) await user.save(program('javascript', `busy-${saves++}`, 20_000));
  })();
  // It fails when the node ends because something else failed, which is then the error to see.
  writing.catch(() => {});
  await until('the first saves', () => saves > 3);
  return async () => {
    const before = saves;
    await until('saves after the backup', () => saves > before + 1);
    ending.abort();
    await writing;
    connection.close();
    assert.deepEqual(tally.faults, []);
  };
}

/** A service on what was restored has all that the users had, and knows no token of before. */
async function verifyRestored(
  url: string,
  settings: Settings,
  { users, environmentToken: formerToken, tally }: Filled,
) {
  await using node = new NodeProcess(url, { ...settings, OUTBOUND_ALLOW: origin });
  await node.start();
  const first = new Connection(node.origin);
  const access = `/auth/v2/access/${users[0]?.path}`;
  assert.equal((await first.send('GET', access, { token: formerToken })).status, 401);
  first.close();
  const environmentToken = await createEnvironmentToken(url);
  await Promise.all(
    users.map(async (user) => {
      const connection = new Connection(node.origin);
      await user.signIn(connection, environmentToken);
      await user.readBack();
      for (const version of user.versions.keys()) await user.run('x', version);
      await user.run('x');
      // And one goes on.
      await user.build(program('javascript', 'after', 100), true);
      await user.deploy();
      await user.run('x');
      connection.close();
    }),
  );
  assert.deepEqual(tally.faults, []);
}

/** Where a service keeps the key of its secrets. */
type Settings = { readonly DATA_DIR: string } | { readonly SECRETS_KEY: string };

/** What a backup must hold the work of. */
interface Filled {
  readonly users: readonly User[];
  readonly environmentToken: string;
  readonly tally: Tally;
}

/** Fills a database and takes a backup of it while others write. */
async function backUpDuringWrites(
  url: string,
  settings: Settings,
  backUp: () => Promise<unknown>,
): Promise<Filled> {
  const tally = new Tally();
  const environmentToken = await createEnvironmentToken(url);
  await using node = new NodeProcess(url, { ...settings, OUTBOUND_ALLOW: origin });
  await node.start();
  const users = await fill(node, environmentToken, tally);
  users.push(await fillWithSecret(node, environmentToken, tally));
  const stopWriting = await keepWriting(node, environmentToken);
  await backUp();
  await stopWriting();
  return { users, environmentToken, tally };
}

// They wait for processes more than they work.
describe('backup and restore', { concurrency: 2 }, () => {
  test('SQLite: a backup taken during writes restores drafts, versions and secrets, and no token', async (t) => {
    const directory = temporaryDirectory(t);
    const [file, copy] = [join(directory, 'service.sqlite'), join(directory, 'backup.sqlite')];
    const url = `sqlite:${file}`;
    const settings = { DATA_DIR: directory };
    const filled = await backUpDuringWrites(url, settings, async () => {
      const env = { ...process.env, DATABASE_URL: url, ...settings };
      const { stdout } = await promisify(execFile)(process.execPath, [main, 'backup', copy], { env });
      assert.match(stdout, /only be read with \S+secrets\.key: keep that, too\.$/m);
    });
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    const bytes = readFileSync(copy);
    const hash = createHash('sha256').update(filled.environmentToken).digest();
    for (const secret of [hash, key, readFileSync(join(directory, 'secrets.key'), 'utf8').trim()])
      assert.equal(bytes.includes(secret), false);

    const restored = join(directory, 'restored');
    mkdirSync(restored);
    await copyFile(copy, join(restored, 'service.sqlite'));
    await copyFile(join(directory, 'secrets.key'), join(restored, 'secrets.key'));
    await verifyRestored(`sqlite:${restored}/service.sqlite`, { DATA_DIR: restored }, filled);
  });

  test('PostgreSQL: the output of pg_dump during writes restores drafts, versions and secrets, and no token', async (t) => {
    const cluster = await startDumpServer();
    t.after(() => cluster.remove());
    // As docs/service/storage.md makes them: the service's user owns its database, and may do nothing else.
    const url = await createOwnedDatabase(cluster.url, 'plugins', 'before');
    const dump = join(temporaryDirectory(t), 'backup.dump');
    const settings = { SECRETS_KEY: randomBytes(32).toString('base64') };
    const filled = await backUpDuringWrites(url, settings, () =>
      run('pg_dump', ...documentedOptions('pg_dump'), `--file=${dump}`, url),
    );
    const hash = createHash('sha256').update(filled.environmentToken).digest('hex');
    for (const secret of [hash, key]) assert.equal(textOf(dump).includes(secret), false);

    const superuser = `--maintenance-db=${cluster.url}`;
    await run('createdb', ...documentedOptions('createdb'), superuser, 'restored');
    const restored = new URL('/restored', url).href;
    await run('pg_restore', ...documentedOptions('pg_restore'), `--dbname=${restored}`, dump);
    await verifyRestored(restored, settings, filled);
  });
});

/** The options of a program as the documentation gives them, but for the file and the database. */
function documentedOptions(name: string): string[] {
  const page = readFileSync(new URL('../../docs/service/backup.md', import.meta.url), 'utf8');
  const command = new RegExp(`^ *${name} ((?:[^\\n]*\\\\\\n)*[^\\n]*)$`, 'm').exec(page)?.[1];
  assert.ok(command, `docs/service/backup.md has no ${name} command any more.`);
  const options = command.match(/--[\w-]+(?:=[\w.*-]+)?/g) ?? [];
  return options.filter((option) => !/^--(?:file|dbname)/.test(option));
}
