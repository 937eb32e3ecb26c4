import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Readable, Writable } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { sendMail } from '../../../service/src/accounts/mail.ts';
import { codesPerHour } from '../../../service/src/accounts/verification.ts';
import { envToken, readArguments } from '../../../service/src/cli/env-token.ts';
import type { TokenProcess } from '../../../service/src/cli/env-token.ts';
import { UsageError } from '../../../service/src/cli/options.ts';
import type { DatabaseAddress } from '../../../service/src/storage/database-url.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';
import { cleanUpFirst, engineUnderTest, databaseWithSchema } from '../storage/databases.ts';
import { accessPath, bearer, startService, temporaryDirectory } from '../harness.ts';
import {
  addEnvironment,
  claimEnvironment,
  findEnvironmentToken,
} from '../../../service/src/storage/tables/environments.ts';
import { addCode } from '../../../service/src/storage/tables/verification-codes.ts';

const script = join(import.meta.dirname, '../../../service/src/cli/main.ts');
const codeIn = (mail: string) => /^Your verification code is (\d{6})\r?$/m.exec(mail)?.[1] ?? '';
const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

/** Where a service keeps its records and its files. */
interface Place {
  readonly address: DatabaseAddress;
  /** Made when it is needed. */
  readonly directory: string;
}

const placeOf = (t: TestContext, address: DatabaseAddress): Place => ({
  address,
  directory: address.engine === 'sqlite' ? dirname(address.file) : join(temporaryDirectory(t), 'data'),
});

async function freshPlace(t: TestContext): Promise<Place> {
  if (engineUnderTest() === 'postgres') return placeOf(t, await databaseWithSchema(t, 'postgres'));
  // The folder is not there yet.
  return placeOf(t, { engine: 'sqlite', file: join(temporaryDirectory(t), 'data', 'service.sqlite') });
}

type Variables = Readonly<Record<string, string>>;

const variablesOf = ({ directory, address }: Place, env: Variables): Variables => ({
  SMTP_URL: '',
  SMTP_FROM: '',
  DATA_DIR: directory,
  // For SQLite its default, in the data folder.
  DATABASE_URL: address.engine === 'postgres' ? address.url : '',
  ...env,
});

/** Runs the command in this process. Its standard input stays open until `end()`. */
function run(t: TestContext, place: Place, args: string[], env: Variables = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const self: TokenProcess = { env: variablesOf(place, env), stdin, stdout, stderr };
  const ended = (async () => {
    await envToken(args, self);
    await Promise.all([stdout, stderr].map((stream) => once(stream.end(), 'end')));
    return self.exitCode ?? 0;
  })();
  // A command that still waits for a code ends with its input.
  cleanUpFirst(t, async () => {
    stdin.end();
    await ended;
  });
  return driven(stdin, stdout, stderr, ended);
}

/** Runs the command by a process. */
function runProcess(t: TestContext, place: Place, args: string[], env: Variables = {}) {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, 'env-token', ...args],
    { env: { ...process.env, npm_lifecycle_event: 'env-token', ...variablesOf(place, env) } },
  );
  cleanUpFirst(t, () => child.kill('SIGKILL'));
  const closed = once(child, 'close') as Promise<[code: number]>;
  return driven(
    child.stdin,
    child.stdout,
    child.stderr,
    closed.then(([code]) => code),
  );
}

/** What a test does with a command that runs. */
function driven(stdin: Writable, stdout: Readable, stderr: Readable, ended: Promise<unknown>) {
  let [out, err] = ['', ''];
  stdout.setEncoding('utf8').on('data', (part: string) => (out += part));
  stderr.setEncoding('utf8').on('data', (part: string) => (err += part));
  /** Resolves when the command has asked for a code for the `times`-th time. */
  const untilPrompted = async (times = 1) => {
    while (err.split('Code: ').length <= times) await once(stderr, 'data');
  };
  return {
    untilPrompted,
    type: (text: string) => stdin.write(text),
    end: () => stdin.end(),
    done: async () => ({ status: await ended, out, err }),
    mailFile: () => /to the file (.+\.eml) /.exec(err)?.[1] ?? '',
  };
}

async function findToken({ address }: Place, token: string) {
  const storage = await openStorage(address);
  const found = await findEnvironmentToken(storage.db, token, Date.now());
  await storage.close();
  return found;
}

const environmentOf = async (place: Place, token: string) => (await findToken(place, token))?.environment;

/** Counts codes as sent to an address now. */
async function addCodes({ address }: Place, count: number): Promise<void> {
  const storage = await openStorage(address);
  const now = Date.now();
  const code = { email: 'you@acme.com', salt: new Uint8Array(16), hash: new Uint8Array(32), expiresAt: now };
  await storage.transaction(async (db) => {
    for (let i = 0; i < count; i++) await addCode(db, { ...code, environment: `com.acme.x${i}` }, now);
  });
  await storage.close();
}

describe('the command env-token', () => {
  test('writes the code to a file, which the command names, where no mail server is set', async (t) => {
    const place = await freshPlace(t);
    const command = runProcess(t, place, ['You@Acme.com']);
    await command.untilPrompted();
    const file = command.mailFile();
    assert.ok(file.startsWith(join(place.directory, 'outbox')));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const mail = readFileSync(file, 'utf8');
    assert.match(mail, /^To: you@acme\.com\r$/m);
    assert.match(mail, /com\.acme/);
    const code = codeIn(mail);
    command.type(`${code}\n`);
    const { status, out, err } = await command.done();
    assert.equal(status, 0, err);
    assert.match(out, /^pe_env_[\w-]{43}\n$/);
    assert.ok(!err.includes(out.trim()) && !err.includes(code));
    // It calls itself as it was called.
    assert.match(err, /^Environment: com\.acme, .* npm run env-token -- you@acme\.com <environment>$/m);
    assert.equal(await environmentOf(place, out.trim()), 'com.acme');
  });

  test('takes the environment from the address when none is given, and prints it and a token that a running service takes', async (t) => {
    const { address, fetch } = await startService(t);
    const command = run(t, placeOf(t, address), ['you@mail.example.org']);
    await command.untilPrompted();
    command.type(codeIn(readFileSync(command.mailFile(), 'utf8')));
    command.end();
    const { out, err } = await command.done();
    assert.match(
      err,
      /org\.example\.mail, from the address; for another: npx plugin-editor-service env-token/,
    );
    const path = accessPath.replace('com.acme', 'org.example.mail');
    assert.equal((await fetch(path, { headers: bearer(out.trim()) })).status, 200);
  });

  test('refuses an environment that is not of the domain of the address, and writes nothing', async (t) => {
    const place = await freshPlace(t);
    const cases: [args: string[], message: RegExp][] = [
      [
        ['attacker@evil.test', 'com.example'],
        /com\.example is not of the domain evil\.test: .*can be test\.evil/,
      ],
      [['you@gmail.com'], /Anybody can get an address at gmail\.com/],
      [['you@localhost'], /localhost is no domain that somebody can register/],
    ];
    for (const [args, message] of cases) {
      const { status, out, err } = await run(t, place, args).done();
      assert.deepEqual([status, out], [1, ''], args.join(' '));
      assert.match(err, message);
      assert.match(err, /Whoever operates the service can make a token for any environment\./);
    }
    assert.throws(() => readdirSync(place.directory), /ENOENT/);
  });

  test('accepts the right code after a wrong one, which leaves the other tries', async (t) => {
    const command = run(t, await freshPlace(t), ['you@acme.com', 'com.acme']);
    await command.untilPrompted();
    const code = codeIn(readFileSync(command.mailFile(), 'utf8'));
    command.type(`${wrong(code)}\n\n`);
    await command.untilPrompted(3);
    command.type('no code at all\n');
    await command.untilPrompted(4);
    command.type(`${code}\n`);
    const { status, out, err } = await command.done();
    assert.equal(status, 0, err);
    assert.match(err, /4 tries are left[^]*3 tries are left/);
    assert.match(out, /^pe_env_/);
  });

  test('ends without a token after five wrong codes', async (t) => {
    const command = run(t, await freshPlace(t), ['you@acme.com', 'com.acme']);
    await command.untilPrompted();
    const code = codeIn(readFileSync(command.mailFile(), 'utf8'));
    command.type(`${wrong(code)}\n`.repeat(5));
    const { status, out, err } = await command.done();
    assert.deepEqual([status, out], [1, '']);
    assert.match(err, /1 try is left[^]*wrong 5 times/);
  });

  test('ends when the input ends without a code', async (t) => {
    const command = run(t, await freshPlace(t), ['you@acme.com', 'com.acme']);
    command.end();
    const { status, out, err } = await command.done();
    assert.deepEqual([status, out], [1, '']);
    assert.match(err, /Standard input ended/);
  });

  test('names the arguments that cannot be used, and writes nothing', async (t) => {
    const place = await freshPlace(t);
    const cases: [args: string[], message: RegExp][] = [
      [[], /environment is missing/],
      [['com/acme'], /"com\/acme" cannot name an environment/],
      [['com.acme', 'more'], /more arguments than an environment/],
      [['you@'], /"you@" is not an e-mail address/],
      [['you@acme.com\r\nbcc: x@acme.com'], /is not an e-mail address/],
      [['you@acme.com', 'com/acme'], /"com\/acme" cannot name an environment/],
      [['you@acme.com', 'com.acme', 'more'], /more arguments/],
      [['--force', 'you@acme.com'], /--force/],
    ];
    for (const [args, message] of cases) {
      assert.throws(
        () => readArguments(args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
    }
    const { status, out, err } = await run(t, place, ['you@']).done();
    assert.deepEqual([status, out], [2, '']);
    assert.match(err, /"you@" is not an e-mail address[^]*Usage: npx plugin-editor-service env-token/);
    assert.throws(() => readdirSync(place.directory), /ENOENT/);
    const help = await run(t, place, ['--help']).done();
    assert.deepEqual(
      [help.status, help.out.startsWith('Usage: npx plugin-editor-service env-token')],
      [0, true],
    );
  });

  test('prints a token at once, without mail, when only an environment is given', async (t) => {
    const place = await freshPlace(t);
    const { status, out, err } = await run(t, place, ['de.bücher']).done();
    assert.deepEqual([status, err], [0, '']);
    assert.match(out, /^pe_env_[\w-]{43}\n$/);
    assert.equal(await environmentOf(place, out.trim()), 'de.bücher');
    assert.ok(!existsSync(join(place.directory, 'outbox')));

    const again = await run(t, place, ['de.bücher']).done();
    assert.equal(await environmentOf(place, again.out.trim()), 'de.bücher');
    assert.equal(await environmentOf(place, out.trim()), undefined);

    const options = ['--holder', 'billing', '--scopes', 'read'];
    const limited = await run(t, place, ['de.bücher', ...options]).done();
    const found = await findToken(place, limited.out.trim());
    assert.deepEqual([found?.holder, found?.scopes], ['billing', ['read']]);
  });

  async function mailServer(t: TestContext, accept: boolean) {
    const mails: { from: string; to: string[]; user: string | undefined; text: string }[] = [];
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) =>
        password === 'pass-word' ? callback(null, { user: username }) : callback(new Error('Wrong password')),
      onRcptTo: (_address, _session, callback) => callback(accept ? null : new Error('No such mailbox')),
      onData: (stream, session, callback) => {
        let text = '';
        stream.setEncoding('utf8').on('data', (part: string) => (text += part));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          const from = mailFrom ? mailFrom.address : '';
          mails.push({ from, to: rcptTo.map(({ address }) => address), user: session.user, text });
          callback();
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => new Promise<void>((resolve) => server.close(resolve)));
    return { mails, port: (server.server.address() as AddressInfo).port };
  }

  test('sends the code by mail where a mail server is set, and writes no file', async (t) => {
    const place = await freshPlace(t);
    const { mails, port } = await mailServer(t, true);
    const command = run(t, place, ['you@acme.com', 'com.acme'], {
      SMTP_URL: `smtp://user:pass-word@127.0.0.1:${port}`,
      SMTP_FROM: 'service@acme.com',
      PUBLIC_URL: 'https://plugins.example.com',
    });
    await command.untilPrompted();
    const [mail, ...others] = mails;
    assert.ok(mail && !others.length);
    assert.deepEqual([mail.from, mail.to, mail.user], ['service@acme.com', ['you@acme.com'], 'user']);
    assert.match(mail.text, /^com\.acme of the plugin service at https:\/\/plugins\.example\.com\.\r?$/m);
    command.type(`${codeIn(mail.text)}\n`);
    const { status, out, err } = await command.done();
    assert.equal(status, 0, err);
    assert.equal(await environmentOf(place, out.trim()), 'com.acme');
    assert.match(err, new RegExp(`to you@acme\\.com, through 127\\.0\\.0\\.1:${port}`));
    assert.ok(!err.includes('pass-word'));
    assert.ok(!existsSync(join(place.directory, 'outbox')));
  });

  test('ends when the mail server refuses the mail, shows no password and does not count the code', async (t) => {
    const place = await freshPlace(t);
    const { port } = await mailServer(t, false);
    const SMTP_URL = `smtp://user:pass-word@127.0.0.1:${port}`;
    for (const smtpUrl of [
      SMTP_URL,
      `smtp://user:not-the-one@127.0.0.1:${port}`,
      'smtp://127.0.0.1:1',
      'https://u:pass-word@127.0.0.1',
      'pass-word',
    ]) {
      const mail = { to: 'you@acme.com', subject: 'Your code', text: 'Your code' };
      await assert.rejects(sendMail(mail, { smtpUrl, outbox: place.directory }), ({ message }: Error) => {
        assert.match(message, /SMTP_URL/);
        assert.doesNotMatch(message, /pass-word|not-the-one/);
        return true;
      });
    }
    // One code is left in this hour.
    await addCodes(place, codesPerHour - 1);
    const { status, out, err } = await run(t, place, ['you@acme.com', 'com.acme'], { SMTP_URL }).done();
    assert.deepEqual([status, out], [1, '']);
    assert.match(err, /SMTP_URL/);
    assert.doesNotMatch(err, /pass-word/);
    const command = run(t, place, ['you@acme.com', 'com.acme']);
    await command.untilPrompted();
    assert.ok(command.mailFile());
  });

  test('needs a mail server for a code where the service is deployed, and stores no mail', async (t) => {
    const place = await freshPlace(t);
    const env = { PUBLIC_URL: 'https://plugins.example.com' };
    const { status, out, err } = await run(t, place, ['you@acme.com'], env).done();
    assert.deepEqual([status, out], [1, '']);
    assert.match(err, /^SMTP_URL is not set.* env-token com\.acme$/m);
    assert.ok(!existsSync(join(place.directory, 'outbox')));
    assert.equal((await run(t, place, ['com.acme'], env).done()).status, 0);
  });

  test('does not send a sixth code within an hour', async (t) => {
    const place = await freshPlace(t);
    await addCodes(place, codesPerHour);
    const { status, err } = await run(t, place, ['you@acme.com', 'com.acme']).done();
    assert.equal(status, 1);
    assert.match(err, /5 codes within an hour/);
    assert.ok(!existsSync(join(place.directory, 'outbox')));
  });

  test('refuses an environment of another address before it sends any mail', async (t) => {
    const place = await freshPlace(t);
    const storage = await openStorage(place.address);
    await addEnvironment(storage.db, 'com.acme', 0);
    await claimEnvironment(storage.db, 'com.acme', 'first@acme.com');
    await storage.close();
    const { status, err } = await run(t, place, ['you@acme.com', 'com.acme']).done();
    assert.equal(status, 1);
    assert.match(err, /com\.acme belongs to another e-mail address/);
    assert.ok(!existsSync(join(place.directory, 'outbox')));
  });
});
