import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
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
 * restored has every draft and every version that was acknowledged before the backup.
 */

const main = fileURLToPath(new URL('../../service/src/cli/main.ts', import.meta.url));

/** Users who have drafts, builds and versions by now, and do nothing more. */
function fill(node: NodeProcess, environmentToken: string, tally: Tally): Promise<User[]> {
  const languages = ['javascript', 'typescript', 'assemblyscript', 'javascript'];
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
async function verifyRestored(url: string, users: readonly User[], formerToken: string, tally: Tally) {
  await using node = new NodeProcess(url);
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

/** Fills a database and takes a backup of it while others write. Resolves with the users whose work the backup must hold. */
async function backUpDuringWrites(
  url: string,
  environmentToken: string,
  tally: Tally,
  backUp: () => Promise<unknown>,
): Promise<User[]> {
  await using node = new NodeProcess(url);
  await node.start();
  const users = await fill(node, environmentToken, tally);
  const stopWriting = await keepWriting(node, environmentToken);
  await backUp();
  await stopWriting();
  return users;
}

// They wait for processes more than they work.
describe('backup and restore', { concurrency: 2 }, () => {
  test('SQLite: a backup taken during writes restores every draft and version, and no token', async (t) => {
    const directory = temporaryDirectory(t);
    const [file, copy] = [join(directory, 'service.sqlite'), join(directory, 'backup.sqlite')];
    const url = `sqlite:${file}`;
    const tally = new Tally();
    const environmentToken = await createEnvironmentToken(url);
    const users = await backUpDuringWrites(url, environmentToken, tally, async () => {
      const env = { ...process.env, DATABASE_URL: url };
      await promisify(execFile)(process.execPath, [main, 'backup', copy], { env });
    });
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    const bytes = readFileSync(copy);
    assert.equal(bytes.includes(createHash('sha256').update(environmentToken).digest()), false);

    mkdirSync(join(directory, 'restored'));
    const restored = join(directory, 'restored/service.sqlite');
    await copyFile(copy, restored);
    await verifyRestored(`sqlite:${restored}`, users, environmentToken, tally);
  });

  test('PostgreSQL: the output of pg_dump during writes restores every draft and version, and no token', async (t) => {
    const cluster = await startDumpServer();
    t.after(() => cluster.remove());
    // As docs/service/storage.md makes them: the service's user owns its database, and may do nothing else.
    const url = await createOwnedDatabase(cluster.url, 'plugins', 'before');
    const dump = join(temporaryDirectory(t), 'backup.dump');
    const tally = new Tally();
    const environmentToken = await createEnvironmentToken(url);
    const users = await backUpDuringWrites(url, environmentToken, tally, () =>
      run('pg_dump', ...documentedOptions('pg_dump'), `--file=${dump}`, url),
    );
    const hash = createHash('sha256').update(environmentToken).digest('hex');
    assert.equal(textOf(dump).includes(hash), false);

    const superuser = `--maintenance-db=${cluster.url}`;
    await run('createdb', ...documentedOptions('createdb'), superuser, 'restored');
    const restored = new URL('/restored', url).href;
    await run('pg_restore', ...documentedOptions('pg_restore'), `--dbname=${restored}`, dump);
    await verifyRestored(restored, users, environmentToken, tally);
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
