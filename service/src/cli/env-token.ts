import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { defaultEnvironment } from '../accounts/environment-ownership.ts';
import { isEnvironmentName } from '../accounts/environment-token.ts';
import { readMailAddress } from '../accounts/mail-address.ts';
import { sendMail } from '../accounts/mail.ts';
import { databaseAddress, dataDirectory } from './data-directory.ts';
import { openStorage } from '../storage/storage.ts';
import type { Storage } from '../storage/storage.ts';
import {
  answerVerification,
  cancelVerification,
  checkOwnEnvironment,
  codeLifetimeMinutes,
  startVerification,
} from '../accounts/verification.ts';

const usage = `Usage: npm run env-token -- <your e-mail address> [environment]

Makes a token for an environment of the local plugin service. A code goes to the address by mail and is read from
standard input; the token is the last line of standard output. The token that the command made for the environment
before stops working.

An environment belongs to the domain that its name begins with, from the top: you@acme.co.uk can have uk.co.acme, which
is what it gets when none is given, or any that begins with "uk.co.acme.". The first address to verify an environment
owns it. An address at a mail provider, such as gmail.com, can have none: whoever operates the service can make a token
for any environment.

DATA_DIR      the service's data folder (default: .data)
DATABASE_URL  the service's database (default: the SQLite file service.sqlite in DATA_DIR)
SMTP_URL      the mail server (default: none, the mail becomes a file in DATA_DIR/outbox)
SMTP_FROM     the sender's address`;

// Standard output is for the token alone.
const say = (text: string) => process.stderr.write(`${text}\n`);
const prompt = () => process.stderr.write('Code: ');

class UsageError extends Error {}

function readArguments(): { email: string; environment: string; chosen: boolean } | undefined {
  let parsed;
  try {
    parsed = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean', short: 'h' } } });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (parsed.values.help) return undefined;
  const [address, environment, ...others] = parsed.positionals;
  if (address === undefined) throw new UsageError('The e-mail address is missing.');
  if (others.length) throw new UsageError('There are more arguments than an address and an environment.');
  const email = readMailAddress(address);
  if (email === undefined) {
    throw new UsageError(`"${address}" is not an e-mail address, such as you@example.com.`);
  }
  if (environment !== undefined && !isEnvironmentName(environment)) {
    throw new UsageError(
      `"${environment}" cannot name an environment: use letters, digits, hyphens and underscores, in parts joined by periods, such as com.acme.`,
    );
  }
  return { email, environment: environment ?? defaultEnvironment(email), chosen: environment !== undefined };
}

async function sendCode(storage: Storage, email: string, environment: string): Promise<number> {
  const { id, code } = await startVerification(storage, { email, environment }, Date.now());
  const text = `Your verification code is ${code}

It is good for ${codeLifetimeMinutes} minutes, and makes a new token of the local plugin service for
the environment ${environment}.
If you did not ask for it, do nothing: without the code there is no token.
`;
  try {
    const where = await sendMail(
      { to: email, subject: `${code} is your verification code`, text },
      {
        smtpUrl: process.env['SMTP_URL'],
        from: process.env['SMTP_FROM'],
        outbox: join(dataDirectory(), 'outbox'),
      },
    );
    say(`A verification code went ${where}.`);
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
      const verdict = await answerVerification(storage, id, line, Date.now());
      if ('token' in verdict) return verdict.token;
      say(
        `That is not the code. ${verdict.triesLeft === 1 ? '1 try is' : `${verdict.triesLeft} tries are`} left.`,
      );
    }
    prompt();
  }
  throw new Error('Standard input ended before the right code came.');
}

async function main(): Promise<void> {
  const target = readArguments();
  if (!target) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const { email, environment, chosen } = target;
  checkOwnEnvironment(target);
  say(
    chosen
      ? `Environment: ${environment}`
      : `Environment: ${environment}, from the address; for another: npm run env-token -- ${email} <environment>`,
  );
  const storage = await openStorage(databaseAddress());
  try {
    const token = await readToken(storage, await sendCode(storage, email, environment));
    say(
      `${email} owns ${environment}. Its new token follows; one that this command made before works no more.`,
    );
    process.stdout.write(`${token}\n`);
  } finally {
    await storage.close();
  }
}

try {
  await main();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  if (error instanceof UsageError) say(`\n${usage}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
// Whoever holds the other end of standard input need not close it for the command to end.
process.stdin.destroy();
