import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { errorMessage } from '../error-message.ts';
import { isScope, scopes as allScopes } from '../plugins/permissions.ts';
import type { Scope } from '../plugins/permissions.ts';
import { createInterface } from 'node:readline';
import { defaultEnvironment, readMailAddress } from '../accounts/environment-ownership.ts';
import { isEnvironmentName, isHolderName, provisionEnvironmentToken } from '../accounts/environment-token.ts';
import type { ProvisionOptions } from '../accounts/environment-token.ts';
import { sendMail } from '../accounts/mail.ts';
import { StartError } from '../start-error.ts';
import { readSettings } from '../settings/read-settings.ts';
import { describeDatabaseError, StorageUnavailableError } from '../storage/errors.ts';
import { openStorage } from '../storage/storage.ts';
import type { Storage } from '../storage/storage.ts';
import { readOptions, UsageError } from './options.ts';
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

const usage = `Usage: ${command} <environment> [--holder <name>] [--overlap <seconds>] [--scopes <scopes>]
       ${command} <your e-mail address> [environment]

Makes a token for an environment of the plugin service that keeps its state in DATA_DIR; the token is the last line of
standard output. Former tokens of the same holder with the same scopes end; others stay valid.

With an environment alone the token comes at once: whoever can run this can read the service's data anyhow.

  --holder <name>      whose token it is, as logs name it (default: operator)
  --overlap <seconds>  how long the holder's former tokens stay valid, up to 86400 (default: 0)
  --scopes <scopes>    what it permits, separated by commas: some of ${allScopes.join(', ')} (default: all)

With an address a code goes there by mail, and is read from standard input. An environment belongs to the domain that
its name begins with, from the top: you@acme.co.uk can have uk.co.acme, which is what it gets when none is given, or any
that begins with "uk.co.acme.". The first address to verify an environment owns it. An address at a mail provider, such
as gmail.com, can have none.

DATA_DIR      the service's data folder (default: .data)
DATABASE_URL  the service's database (default: the SQLite file service.sqlite in DATA_DIR)
SMTP_URL      the mail server (default: none, the mail becomes a file in DATA_DIR/outbox; needed where PUBLIC_URL is set)
SMTP_FROM     the sender's address`;

/** What the command uses of its process. */
export interface TokenProcess {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  /** Nothing but the token. */
  readonly stdout: Writable;
  readonly stderr: Writable;
  exitCode?: number | string | null | undefined;
}

const printMessage = ({ stderr }: TokenProcess, text: string) => stderr.write(`${text}\n`);
const prompt = ({ stderr }: TokenProcess) => stderr.write('Code: ');

/** A day, in seconds. */
const longestOverlap = 86_400;

/** The parsed arguments: the environment to make a token for and, where somebody asks as its owner, their e-mail address. */
interface TokenArguments {
  readonly environment: string;
  /** The address that has to be verified first. */
  readonly email?: string;
  /** Whether the environment was named, and not taken from the address. */
  readonly isNamed: boolean;
  /** Without an address: the holder of the token, and how long the holder's former tokens stay valid. */
  readonly options: ProvisionOptions;
}

/** Reads the arguments; `undefined` when they ask for help. Throws a UsageError that says what would be right. */
export function readArguments(args: string[]): TokenArguments | undefined {
  const options = {
    holder: { type: 'string' },
    overlap: { type: 'string' },
    scopes: { type: 'string' },
  } as const;
  const { values, positionals, help } = readOptions(args, usage, options, Infinity);
  if (help) return undefined;
  const { holder, overlap, scopes } = values;
  const [first, second, third] = positionals;
  if (first === undefined) throw usageError('The environment is missing, such as com.acme.');
  // Every e-mail address has an @, and no environment does.
  if (!first.includes('@')) {
    if (second !== undefined) throw usageError('There are more arguments than an environment.');
    return {
      environment: readEnvironment(first),
      isNamed: true,
      options: { holder: readHolder(holder), overlap: readOverlap(overlap), scopes: readScopes(scopes) },
    };
  }
  if (holder !== undefined || overlap !== undefined || scopes !== undefined) {
    throw usageError(
      '--holder, --overlap and --scopes are for an environment alone, not for an e-mail address.',
    );
  }
  if (third !== undefined) throw usageError('There are more arguments than an address and an environment.');
  const email = readMailAddress(first);
  if (email === undefined) {
    throw usageError(`"${first}" is not an e-mail address, such as you@example.com.`);
  }
  return second === undefined
    ? { email, environment: defaultEnvironment(email), isNamed: false, options: {} }
    : { email, environment: readEnvironment(second), isNamed: true, options: {} };
}

const usageError = (message: string) => new UsageError(`${message}\n\n${usage}`);

function readEnvironment(name: string): string {
  if (isEnvironmentName(name)) return name;
  throw usageError(
    `"${name}" cannot name an environment: use letters, digits, hyphens and underscores, in parts joined by periods, such as com.acme.`,
  );
}

function readScopes(names?: string): readonly Scope[] {
  const found = names?.split(',') ?? allScopes;
  const wrong = found.find((name) => !isScope(name));
  if (wrong === undefined) return found.filter(isScope);
  throw usageError(
    `--scopes has ${JSON.stringify(wrong.slice(0, 100))}; it must be some of ${allScopes.join(', ')}, separated by commas.`,
  );
}

function readHolder(name = 'operator'): string {
  if (isHolderName(name)) return name;
  throw usageError(
    `--holder is ${JSON.stringify(name.slice(0, 100))}; it must be a name of 1 to 200 characters, without control characters.`,
  );
}

function readOverlap(text = '0'): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= longestOverlap) return Number(text);
  throw usageError(
    `--overlap is ${JSON.stringify(text.slice(0, 100))}; it must be a whole number of seconds from 0 to ${longestOverlap}.`,
  );
}

async function sendCode(
  self: TokenProcess,
  storage: Storage,
  email: string,
  environment: string,
): Promise<number> {
  const { smtpUrl, smtpFrom, dataDirectory, publicUrl } = readSettings(self.env);
  const { id, code } = await startVerification(storage, { email, environment }, Date.now());
  const text = `Your verification code is ${code}

It is valid for ${codeLifetimeMinutes} minutes, and makes a new token for the environment
${environment} of ${publicUrl === undefined ? 'the local plugin service' : `the plugin service at ${publicUrl}`}.
If you did not ask for it, do nothing: without the code there is no token.
`;
  try {
    const where = await sendMail(
      { to: email, subject: `${code} is your verification code`, text },
      { smtpUrl, from: smtpFrom, outbox: join(dataDirectory, 'outbox') },
    );
    printMessage(self, `A verification code went ${where}.`);
  } catch (error) {
    await cancelVerification(storage, id);
    throw error;
  }
  return id;
}

/** Reads codes from standard input until one is right, and returns the new token. */
async function verifyEnteredCodes(self: TokenProcess, storage: Storage, id: number): Promise<string> {
  prompt(self);
  for await (const line of createInterface({ input: self.stdin })) {
    if (line.trim()) {
      const outcome = await verifyCode(storage, id, line, Date.now());
      if ('token' in outcome) return outcome.token;
      printMessage(
        self,
        `That is not the code. ${outcome.triesLeft === 1 ? '1 try is' : `${outcome.triesLeft} tries are`} left.`,
      );
    }
    prompt(self);
  }
  throw new Error('Standard input ended before the right code came.');
}

/** Opens the storage. Throws a StartError when the schema is old and AUTO_MIGRATE is off. */
async function openReadyStorage({ env }: TokenProcess): Promise<Storage> {
  const { database, autoMigrate } = readSettings(env);
  const storage = await openStorage(database, { autoMigrate });
  if (storage.isSchemaReady) return storage;
  await storage.close();
  throw new StartError(
    'The schema of the database is not the one that this release needs, and AUTO_MIGRATE is off; run "plugin-editor-service migrate" first.',
  );
}

/** Makes a token without mail, for the operator of the service. */
async function createOperatorToken(
  self: TokenProcess,
  environment: string,
  options: ProvisionOptions,
): Promise<string> {
  const storage = await openReadyStorage(self);
  try {
    return await provisionEnvironmentToken(storage, environment, Date.now(), options);
  } finally {
    await storage.close();
  }
}

/** Makes a token for the owner of an e-mail address, once the code that was sent there has been entered. */
async function createOwnerToken(
  self: TokenProcess,
  email: string,
  { environment, isNamed }: TokenArguments,
): Promise<string> {
  checkOwnEnvironment({ email, environment });
  const { publicUrl, smtpUrl } = readSettings(self.env);
  // Whoever reads the outbox of a deployed service needs no code.
  if (publicUrl !== undefined && smtpUrl === undefined) {
    throw new StartError(
      `SMTP_URL is not set, and the service is deployed at ${publicUrl}: codes go by mail alone there. Whoever operates the service can make a token without one: ${command} ${environment}`,
    );
  }
  printMessage(
    self,
    isNamed
      ? `Environment: ${environment}`
      : `Environment: ${environment}, from the address; for another: ${command} ${email} <environment>`,
  );
  const storage = await openReadyStorage(self);
  try {
    const id = await sendCode(self, storage, email, environment);
    const token = await verifyEnteredCodes(self, storage, id);
    printMessage(
      self,
      `${email} owns ${environment}. Your new token follows; your former token from this command no longer works.`,
    );
    return token;
  } finally {
    await storage.close();
  }
}

async function printToken(args: string[], self: TokenProcess): Promise<void> {
  const parsed = readArguments(args);
  if (!parsed) {
    self.stdout.write(`${usage}\n`);
    return;
  }
  const { email, environment } = parsed;
  const token =
    email === undefined
      ? await createOperatorToken(self, environment, parsed.options)
      : await createOwnerToken(self, email, parsed);
  self.stdout.write(`${token}\n`);
}

/** Prints a new environment token. An error is printed, and sets the exit code. */
export async function envToken(args: string[], self: TokenProcess = process): Promise<void> {
  try {
    await printToken(args, self);
  } catch (error) {
    printMessage(
      self,
      error instanceof StorageUnavailableError
        ? `The database cannot be used: ${describeDatabaseError(error)}.`
        : errorMessage(error),
    );
    self.exitCode = error instanceof UsageError ? 2 : 1;
  }
  // An open standard input must not keep the process running.
  self.stdin.destroy();
}
