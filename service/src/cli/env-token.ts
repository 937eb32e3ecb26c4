import { join } from 'node:path';
import { errorMessage } from '../error-message.ts';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { defaultEnvironment } from '../accounts/environment-ownership.ts';
import { isEnvironmentName, isHolderName, provisionEnvironmentToken } from '../accounts/environment-token.ts';
import type { ProvisionOptions } from '../accounts/environment-token.ts';
import { readMailAddress } from '../accounts/mail-address.ts';
import { sendMail } from '../accounts/mail.ts';
import { StartError } from '../start-error.ts';
import { readSettings } from '../settings/settings.ts';
import { openStorage } from '../storage/storage.ts';
import type { Storage } from '../storage/storage.ts';
import { UsageError } from './usage-error.ts';
import {
  verifyCode,
  cancelVerification,
  checkOwnEnvironment,
  codeLifetimeMinutes,
  startVerification,
} from '../accounts/verification.ts';

/** How this command was called, for messages: by the script of this repository, or by the command of the package. */
const command =
  process.env['npm_lifecycle_event'] === 'env-token'
    ? 'npm run env-token --'
    : 'npx plugin-editor-service env-token';

const usage = `Usage: ${command} <environment> [--holder <name>] [--overlap <seconds>]
       ${command} <your e-mail address> [environment]

Makes a token for an environment of the plugin service that keeps its state in DATA_DIR; the token is the last line of
standard output. Former tokens of the same holder end; those of other holders stay good.

With an environment alone the token comes at once: whoever can run this can read the service's data anyhow.

  --holder <name>      whose token it is, as logs name it (default: operator)
  --overlap <seconds>  how long the holder's former tokens stay good, up to 86400 (default: 0)

With an address a code goes there by mail, and is read from standard input. An environment belongs to the domain that
its name begins with, from the top: you@acme.co.uk can have uk.co.acme, which is what it gets when none is given, or any
that begins with "uk.co.acme.". The first address to verify an environment owns it. An address at a mail provider, such
as gmail.com, can have none.

DATA_DIR      the service's data folder (default: .data)
DATABASE_URL  the service's database (default: the SQLite file service.sqlite in DATA_DIR)
SMTP_URL      the mail server (default: none, the mail becomes a file in DATA_DIR/outbox)
SMTP_FROM     the sender's address`;

// Standard output is for the token alone.
const printMessage = (text: string) => process.stderr.write(`${text}\n`);
const prompt = () => process.stderr.write('Code: ');

/** A day, in seconds. */
const longestOverlap = 86_400;

/** The environment to make a token for; with an e-mail address, that has to be verified. */
interface Target {
  readonly environment: string;
  readonly email?: string;
  /** Whether the environment was named, and not taken from the address. */
  readonly chosen: boolean;
  /** Without an address: the holder of the token, and how long the holder's former tokens stay valid. */
  readonly options: ProvisionOptions;
}

/** `undefined` when the arguments ask for help. */
function readArguments(args: string[]): Target | undefined {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        holder: { type: 'string' },
        overlap: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
  if (parsed.values.help) return undefined;
  const { holder, overlap } = parsed.values;
  const [first, ...others] = parsed.positionals;
  if (first === undefined) throw new UsageError('The environment is missing, such as com.acme.');
  // Every e-mail address has an @, and no environment does.
  if (!first.includes('@')) {
    if (others.length) throw new UsageError('There are more arguments than an environment.');
    return {
      environment: readEnvironment(first),
      chosen: true,
      options: { holder: readHolder(holder), overlap: readOverlap(overlap) },
    };
  }
  if (holder !== undefined || overlap !== undefined) {
    throw new UsageError('--holder and --overlap are for an environment alone, not for an e-mail address.');
  }
  const [environment, ...more] = others;
  if (more.length) throw new UsageError('There are more arguments than an address and an environment.');
  const email = readMailAddress(first);
  if (email === undefined) {
    throw new UsageError(`"${first}" is not an e-mail address, such as you@example.com.`);
  }
  return environment === undefined
    ? { email, environment: defaultEnvironment(email), chosen: false, options: {} }
    : { email, environment: readEnvironment(environment), chosen: true, options: {} };
}

function readEnvironment(name: string): string {
  if (isEnvironmentName(name)) return name;
  throw new UsageError(
    `"${name}" cannot name an environment: use letters, digits, hyphens and underscores, in parts joined by periods, such as com.acme.`,
  );
}

function readHolder(name = 'operator'): string {
  if (isHolderName(name)) return name;
  throw new UsageError(
    `--holder is ${JSON.stringify(name.slice(0, 100))}; it must be a name of 1 to 200 characters, without control characters.`,
  );
}

function readOverlap(text = '0'): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= longestOverlap) return Number(text);
  throw new UsageError(
    `--overlap is ${JSON.stringify(text.slice(0, 100))}; it must be a whole number of seconds from 0 to ${longestOverlap}.`,
  );
}

async function sendCode(storage: Storage, email: string, environment: string): Promise<number> {
  const { smtpUrl, smtpFrom, dataDirectory } = readSettings(process.env);
  const { id, code } = await startVerification(storage, { email, environment }, Date.now());
  const text = `Your verification code is ${code}

It is good for ${codeLifetimeMinutes} minutes, and makes a new token of the local plugin service for
the environment ${environment}.
If you did not ask for it, do nothing: without the code there is no token.
`;
  try {
    const where = await sendMail(
      { to: email, subject: `${code} is your verification code`, text },
      { smtpUrl, from: smtpFrom, outbox: join(dataDirectory, 'outbox') },
    );
    printMessage(`A verification code went ${where}.`);
  } catch (error) {
    await cancelVerification(storage, id);
    throw error;
  }
  return id;
}

async function readToken(storage: Storage, id: number): Promise<string> {
  prompt();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim()) {
      const verdict = await verifyCode(storage, id, line, Date.now());
      if ('token' in verdict) return verdict.token;
      printMessage(
        `That is not the code. ${verdict.triesLeft === 1 ? '1 try is' : `${verdict.triesLeft} tries are`} left.`,
      );
    }
    prompt();
  }
  throw new Error('Standard input ended before the right code came.');
}

/** Opens the storage. Throws a StartError when the schema is old and AUTO_MIGRATE is off. */
async function openReadyStorage(): Promise<Storage> {
  const { database, autoMigrate } = readSettings(process.env);
  const storage = await openStorage(database, { autoMigrate });
  if (storage.isSchemaReady) return storage;
  await storage.close();
  throw new StartError(
    'The schema of the database is not the one that this release needs, and AUTO_MIGRATE is off; run "plugin-editor-service migrate" first.',
  );
}

/** Makes a token without mail, for the operator of the service. */
async function createToken(environment: string, options: ProvisionOptions): Promise<string> {
  const storage = await openReadyStorage();
  try {
    return await provisionEnvironmentToken(storage, environment, Date.now(), options);
  } finally {
    await storage.close();
  }
}

/** Makes a token for the owner of an e-mail address, once the code that was sent there has been entered. */
async function createTokenByMail(email: string, { environment, chosen }: Target): Promise<string> {
  checkOwnEnvironment({ email, environment });
  printMessage(
    chosen
      ? `Environment: ${environment}`
      : `Environment: ${environment}, from the address; for another: ${command} ${email} <environment>`,
  );
  const storage = await openReadyStorage();
  try {
    const token = await readToken(storage, await sendCode(storage, email, environment));
    printMessage(
      `${email} owns ${environment}. Its new token follows; one that this command made before works no more.`,
    );
    return token;
  } finally {
    await storage.close();
  }
}

async function run(args: string[]): Promise<void> {
  const target = readArguments(args);
  if (!target) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const { email, environment } = target;
  const token =
    email === undefined
      ? await createToken(environment, target.options)
      : await createTokenByMail(email, target);
  process.stdout.write(`${token}\n`);
}

/** Prints a new environment token. An error is printed, and sets the exit code. */
export async function envToken(args: string[]): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    printMessage(errorMessage(error));
    if (error instanceof UsageError) printMessage(`\n${usage}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
  // An open standard input must not keep the process running.
  process.stdin.destroy();
}
