#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorMessage } from '../error-message.ts';
import { packageDescription } from '../processes/package-folders.ts';
import { limitYoungGeneration } from '../processes/young-generation.ts';
import { StartError } from '../start-error.ts';
import { UsageError } from './options.ts';

const usage = `Usage: plugin-editor-service [command]

  serve                                 serves, until SIGINT or SIGTERM (default)
  migrate                               brings the schema of the database up to date
  env-token <environment>               prints a new environment token
  env-token <address> [environment]     the same for the owner of an e-mail address, who is sent a code
  check                                 says whether everything that the service needs is there
  backup <file>                         copies the SQLite file while it is served, without tokens
  bundle <package>                      makes a library for plugins of an installed npm package

  -h, --help                            of a command: plugin-editor-service <command> --help
  -v, --version

Settings are variables of the environment; README.md of the package lists the most needed ones.`;

/** Runs a command with the arguments after its name. Each command loads its modules on demand, so that the others start fast. */
type Command = (args: string[]) => Promise<void>;

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'serve',
    async (args) => {
      // With an argument it prints help, or what is wrong with it.
      if (!args.length) limitYoungGeneration();
      await (await import('./serve.ts')).serve(args);
    },
  ],
  ['migrate', async (args) => (await import('./migrate.ts')).migrate(args)],
  ['env-token', async (args) => (await import('./env-token.ts')).envToken(args)],
  ['check', async (args) => (await import('./check.ts')).check(args)],
  ['backup', async (args) => (await import('./backup.ts')).backup(args)],
  ['bundle', async (args) => (await import('./bundle.ts')).bundle(args)],
]);

async function main(args: string[]): Promise<void> {
  requireNode();
  const [name = 'serve', ...others] = args;
  if (name.startsWith('-')) return printAbout(args);
  const command = commands.get(name);
  if (!command) {
    throw new UsageError(
      `There is no command "${name}". There are: ${[...commands.keys()].join(', ')}.\n\n${usage}`,
    );
  }
  await command(others);
}

/** Old releases lack functions that the service calls, which would end it with an unhelpful TypeError. */
function requireNode(): void {
  const { engines } = JSON.parse(readFileSync(packageDescription, 'utf8')) as { engines: { node: string } };
  const [needed, current] = [engines.node.replace('>=', ''), process.version.replace('v', '')];
  if (current.localeCompare(needed, 'en', { numeric: true }) < 0) {
    throw new StartError(`plugin-editor-service needs Node ${needed} or later, and this is Node ${current}.`);
  }
}

function printAbout(args: string[]): void {
  const { values } = parse(args);
  if (values.version) {
    const { version } = JSON.parse(readFileSync(packageDescription, 'utf8')) as { version: string };
    console.log(version);
  } else console.log(usage);
}

function parse(args: string[]) {
  const options = {
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  try {
    return parseArgs({ args, options });
  } catch (error) {
    throw new UsageError(`${errorMessage(error)}\n\n${usage}`, { cause: error });
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // Any other error is a defect of the service, and is printed with its stack.
  const isExpected = error instanceof UsageError || error instanceof StartError;
  console.error(isExpected ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
