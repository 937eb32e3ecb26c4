import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs';
import { errorMessage } from '../error-message.ts';
import { dirname } from 'node:path';
import { describeSeparation, isolationReport } from '../processes/isolation-report.ts';
import { Secrets } from '../outbound/secrets.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { secretsOf } from '../settings/complete-settings.ts';
import { processCountOf } from '../settings/node-processes.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { loadedProgram } from '../plugins/program.ts';
import { Builds } from '../toolchains/build/builds.ts';
import { MissingPackageError } from '../toolchains/language.ts';
import { loadLanguages } from '../toolchains/languages.ts';
import { inspectDatabase } from '../storage/inspect.ts';
import { readOptions } from './options.ts';
import { mebibyte } from '../units.ts';

const usage = `Usage: plugin-editor-service check

Says of each thing that the service needs whether it is as it must be, one line each: settings, database, schema, sandbox,
secrets, isolation and toolchains. A line begins with "ok", "warning" or "failed". The exit code is 1 where one has failed, or where the
output is closed before its end.`;

/** The result of checking one part. */
interface Finding {
  readonly status: 'ok' | 'warning' | 'failed';
  readonly text: string;
}

/** Takes what was found of a part. */
type Report = (part: string, finding: Finding) => void;

const ok = (text: string): Finding => ({ status: 'ok', text });
const warning = (text: string): Finding => ({ status: 'warning', text });
const failed = (text: string): Finding => ({ status: 'failed', text });

/** Checks all parts and prints a line for each. The exit code is 1 when one has failed. */
export async function check(args: string[]): Promise<void> {
  if (readOptions(args, usage, {}).help) {
    console.log(usage);
    return;
  }
  // A reader such as `head` has closed the pipe. Parts that were not checked may be faulty, so the exit code is 1.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(1);
  });
  const report: Report = (part, finding) => {
    console.log(lineOf(part, finding));
    if (finding.status === 'failed') process.exitCode = 1;
  };
  const settings = await checkConfiguration(process.env, report);
  report('sandbox', await checkSandbox(settings));
  report('isolation', checkIsolation());
  report('toolchains', await checkToolchains());
}

/** Each part has one line, so the lines of a message are joined. */
export function lineOf(part: string, { status, text }: Finding): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return `${status.padEnd(7)}  ${part}: ${lines.join(' ')}`;
}

/** Checks the settings, and the database that they name. Returns the settings where they can be used. */
export async function checkConfiguration(
  env: NodeJS.ProcessEnv,
  report: Report,
): Promise<Settings | undefined> {
  const { settings, finding } = checkSettings(env);
  report('settings', finding);
  if (settings) {
    for (const text of missingSettings(settings)) report('settings', warning(text));
    const { database, clock, schema, secrets } = await checkDatabase(settings);
    report('database', database);
    if (clock) report('database', clock);
    report('schema', schema);
    if (secrets) report('secrets', secrets);
  } else {
    report('database', failed('not looked at, as the settings cannot be used'));
    report('schema', failed('not looked at, as the settings cannot be used'));
  }
  return settings;
}

function checkSettings(env: NodeJS.ProcessEnv): { settings?: Settings; finding: Finding } {
  try {
    const settings = readSettings(env);
    const { publicUrl, serviceHost, servicePort } = settings;
    const where = `it listens at ${serviceHost ?? 'loopback'}, port ${servicePort}`;
    const address = publicUrl ?? 'this machine alone';
    const count = processCountOf(settings);
    const processes = count > 1 ? `; ${count} processes answer` : '';
    return { settings, finding: ok(`${where}; users reach it by ${address}${processes}`) };
  } catch (error) {
    return { finding: failed(errorMessage(error)) };
  }
}

/** What a service that others reach mostly needs, and these settings lack. */
function missingSettings({ publicUrl, editorAncestors, trustedProxies }: Settings): string[] {
  if (publicUrl === undefined) return [];
  const missing: string[] = [];
  if (!editorAncestors?.length) {
    missing.push(
      "EDITOR_ANCESTORS is empty, so that no page can show the editor in a frame: name the origins of your app's pages, such as https://app.example.com",
    );
  }
  if (trustedProxies.length === 0) {
    missing.push(
      'TRUSTED_PROXIES is empty, so that behind a proxy all clients count as one address, for limits and in the log: name the addresses of your proxies, such as 10.0.0.0/8',
    );
  }
  return missing;
}

interface DatabaseFindings {
  readonly database: Finding;
  readonly clock?: Finding;
  readonly schema: Finding;
  readonly secrets?: Finding;
}

async function checkDatabase(settings: Settings): Promise<DatabaseFindings> {
  const { database: address, autoMigrate } = settings;
  if (address.engine === 'sqlite' && !existsSync(address.file)) {
    const schema = checkMigration('not there yet, because there is no database', autoMigrate, undefined);
    return { database: checkNewFile(address.file), schema, secrets: checkSecrets(settings) };
  }
  const found = await inspectDatabase(address);
  if ('problem' in found) {
    return {
      database: failed(found.problem),
      schema: failed('not looked at, as the database cannot be used'),
    };
  }
  const { description, isDurable, clockProblem, schema, migrationProblem } = found;
  const database = {
    database: isDurable ? ok(description) : failed(description),
    ...(clockProblem !== undefined && { clock: warning(clockProblem) }),
  };
  if (typeof schema === 'object') return { ...database, schema: failed(schema.problem) };
  const secrets = checkSecrets(settings, found.sealedTexts);
  if (schema === 'current') return { ...database, schema: ok('up to date'), secrets };
  const state = schema === 'old' ? 'older than this release' : 'not there yet, because the database is empty';
  const findings = { ...database, schema: checkMigration(state, autoMigrate, migrationProblem) };
  // An older schema may have secrets, which are not counted.
  return schema === 'old' && secrets.status === 'ok' ? findings : { ...findings, secrets };
}

/** Checks whether what is encrypted can be read, and with which keys. */
function checkSecrets(settings: Settings, counts: ReadonlyMap<string, number> = new Map()): Finding {
  const options = secretsOf(settings);
  const secrets = new Secrets(options);
  let ids: readonly string[];
  try {
    ids = secrets.keyIds;
  } catch (error) {
    return failed(errorMessage(error));
  }
  const [current, ...former] = ids;
  const count = (some: Iterable<string>) => [...some].reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
  const [total, old] = [count(counts.keys()), count(former)];
  const lost = total - count(ids);
  if (lost > 0) {
    const keys = options.file ?? 'SECRETS_KEY';
    // A key that reads nothing is a wrong one. If it reads some, the others were lost for good, which must keep no node from starting.
    return (lost === total ? failed : warning)(
      `${lost} of ${total} cannot be read, because ${keys} ${ids.length ? 'does not hold their key' : 'is not there'}: values of connections, identities and webhooks need it`,
    );
  }
  if (!secrets.isAvailable) {
    return warning(
      'SECRETS_KEY is not set, so that connections have no credentials and there are no webhooks: set it to what openssl rand -base64 32 prints',
    );
  }
  if (old > 0) {
    return warning(
      `${old} of ${total} have another key than the first of SECRETS_KEY: plugin-editor-service migrate encrypts them anew`,
    );
  }
  return ok(
    current !== undefined && total > 0 ? `the current key encrypts all ${total}` : 'there are none yet',
  );
}

/** Checks whether the next start can migrate a schema that is in this state. */
function checkMigration(state: string, autoMigrate: boolean, problem: string | undefined): Finding {
  if (!autoMigrate) return failed(`${state}, and AUTO_MIGRATE is off; run plugin-editor-service migrate`);
  return problem === undefined
    ? ok(`${state}; the next start brings it up to date`)
    : failed(`${state}, and ${problem}`);
}

/** Checks whether the database file could be created, without creating it. */
function checkNewFile(file: string): Finding {
  let folder = dirname(file);
  while (!isThere(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    return failed(`${file} cannot be made, because ${folder} is no folder; see DATA_DIR and DATABASE_URL`);
  }
  try {
    accessSync(folder, constants.W_OK);
    return ok(`the first start makes ${file}`);
  } catch {
    return failed(
      `${file} cannot be made, because ${folder} cannot be written to; see DATA_DIR and DATABASE_URL`,
    );
  }
}

/** Whether something is there, even a link to nothing: no folder can be made in its place. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A plugin that returns its input, for trying the sandbox. */
const echo = loadedProgram({
  kind: 'script',
  code: 'export const run = (input) => input;',
  file: 'check.js',
});

const owner = { environment: 'check', tenant: 'check', token: '' };

async function checkSandbox(settings: Settings | undefined): Promise<Finding> {
  const limits = settings && { time: settings.runTimeoutMs, memory: settings.runMemoryMb * mebibyte };
  const sandbox = new Sandbox(limits && { limits });
  try {
    const outcome = await sandbox.run({ program: echo, input: 'works', owner });
    if ('error' in outcome) return failed(outcome.error.message);
    return outcome.result === 'works' ? ok('a plugin runs') : failed('a plugin gave a wrong result');
  } catch (error) {
    return failed(errorMessage(error));
  } finally {
    await sandbox.close();
  }
}

function checkIsolation(): Finding {
  const report = isolationReport();
  const missing = report.filter(({ holds }) => !holds);
  const separation = describeSeparation();
  if (!missing.length)
    return ok(`${separation}; all layers hold: ${report.map(({ name }) => name).join(', ')}`);
  return warning(`${separation}; ${missing.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`);
}

async function checkToolchains(): Promise<Finding> {
  const problems: string[] = [];
  const missing: string[] = [];
  const languages = loadLanguages((name, reason) => {
    (reason instanceof MissingPackageError ? missing : problems).push(`${name}: ${errorMessage(reason)}`);
  });
  const builds = new Builds(languages);
  try {
    for (const [name, language] of languages) {
      const { contents: source } = language.template({ pluginName: 'check', namespace: 'default' });
      const outcome = await builds.build(name, { source, owner });
      if ('failed' in outcome) problems.push(`${name}: ${outcome.failed}`);
      else if (!outcome.compiled.program) problems.push(`${name}: its template does not build`);
    }
  } finally {
    builds.close();
  }
  if (problems.length) return failed([...problems, ...missing].join('; '));
  const built = `${[...languages.keys()].join(', ')} build`;
  return ok(missing.length ? `${built}; not there is ${missing.join('; ')}` : built);
}
