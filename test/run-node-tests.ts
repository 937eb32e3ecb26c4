import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runNode } from '../tools/run-node.js';
import { parseDatabaseUrl } from '../service/src/storage/database-url.ts';
import { migrateDatabase } from '../service/src/storage/storage.ts';
import { createDatabase } from './postgres/databases.ts';
import { startPostgres } from './postgres/server.ts';

/*
 * `npm run test:node [-- <file>…]`: the tests that run in Node, by default all of them. Those of the service run a second
 * time with PostgreSQL as its storage, where the storage matters. One server is for all of them; with TEST_DATABASE_URL it is that one.
 *
 * How many seconds each file took is in node_modules/.cache/plugin-editor/durations-<storage>.txt, the slowest first.
 */

const namedFiles = process.argv.slice(2);
const { env } = process;
const cache = join(root, 'node_modules/.cache/plugin-editor');

/** Many files wait for a while, such as for a process that they have told to end, so that two more than the cores have work. */
const concurrency = availableParallelism() + 2;
// A test file and what it starts load the same modules, hundreds of times in a run.
env['NODE_COMPILE_CACHE'] ??= join(cache, 'compiled');
const builtService = new URL('support/built-service.js', import.meta.url).href;
env['NODE_OPTIONS'] = [env['NODE_OPTIONS'], `--import=${builtService}`].filter(Boolean).join(' ');

/** Tests that start the service, of what does not depend on its storage. */
const anyStorage = [
  // Some of it does, but it takes long, as each of its commands is a process. Its codes and tokens are tried on both kinds
  // by `verification.node-test.ts` beside it, and the command by `cli/commands.node-test.ts`.
  'test/service/accounts/env-token.node-test.ts',
  'test/service/cli/serve.node-test.ts',
  'test/service/http/build-stream.node-test.ts',
  'test/service/http/busy.node-test.ts',
  'test/service/http/client-errors.node-test.ts',
  'test/service/http/editor-compression.node-test.ts',
  'test/service/http/editor-page.node-test.ts',
  'test/service/http/http-limits.node-test.ts',
  'test/service/http/language-help.node-test.ts',
  'test/service/http/openapi/client.node-test.ts',
  'test/service/http/openapi/document.node-test.ts',
  'test/service/http/unread-bodies.node-test.ts',
  'test/service/lost-database/sqlite.node-test.ts',
  'test/service/types/declarations.node-test.ts',
  'test/threats/request-smuggling.node-test.ts',
];

// Failures are printed once more at the end, because they are hard to find in the long list of what passed.
const failures: string[] = [];
const reports = await mkdtemp(join(tmpdir(), 'plugin-editor-tests-'));

const files = namedFiles.length > 0 ? namedFiles : ['test/**/*.node-test.ts'];
const postgresFiles = await storageTests(
  namedFiles.length > 0 ? namedFiles : ['test/service/**', 'test/threats/**'],
);
// A test that makes a database where there is no server starts one itself: those that are named and need none do not wait.
const needsServer = namedFiles.length === 0 || postgresFiles.length > 0;
const server = needsServer && !env['TEST_DATABASE_URL'] ? await startPostgres() : undefined;
if (server) env['TEST_DATABASE_URL'] = server.url;
const template = needsServer ? await createDatabase() : undefined;
try {
  if (template) {
    await migrateDatabase(parseDatabaseUrl(template.url));
    env['TEST_DATABASE_TEMPLATE'] = new URL(template.url).pathname.slice(1);
  }
  const code = await runOn('sqlite', files);
  // Past 128 a signal has ended them, and nobody waits for more.
  const runsOnPostgres = code <= 128 && postgresFiles.length > 0;
  if (runsOnPostgres) {
    console.log(
      `\nThe tests of the service again, with PostgreSQL as its storage: ${postgresFiles.length} files.\n`,
    );
  }
  const postgresCode = runsOnPostgres ? await runOn('postgres', postgresFiles) : 0;
  process.exitCode = code || postgresCode;
} finally {
  await template?.drop();
  await server?.stop();
  await rm(reports, { recursive: true });
}
if (failures.length > 0) console.log(`\nWhat failed:\n${failures.join('')}`);

/** Runs tests on a kind of storage; resolves with the exit code. */
async function runOn(storage: 'sqlite' | 'postgres', paths: readonly string[]): Promise<number> {
  env['TEST_STORAGE'] = storage;
  const report = join(reports, storage);
  const code = await runNode([
    '--test',
    `--test-concurrency=${concurrency}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/support/failure-reporter.ts',
    `--test-reporter-destination=${report}`,
    '--test-reporter=./test/support/duration-reporter.ts',
    `--test-reporter-destination=${join(cache, `durations-${storage}.txt`)}`,
    ...paths,
  ]);
  const text = await readFile(report, 'utf8').catch(() => '');
  if (text) failures.push(`\nWith ${storage}:\n${text}`);
  return code;
}

/**
 * The files whose tests start the service on the storage that TEST_STORAGE names, where it matters which that is. Those of
 * the storage itself run on both kinds each time.
 */
async function storageTests(patterns: readonly string[]): Promise<string[]> {
  // What starts it, by the names that the tests import it by.
  const starts =
    /\b(?:startService|startPlugin|startTypedPlugin|startWithPlugins|startTokenServers|startVendor|startAuthor|engineUnderTest)\b|\blisten\b.*harness\.ts/;
  const found: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) {
    if (!file.endsWith('.node-test.ts') || !/^test\/(?:service|threats)\//.test(file)) continue;
    if (file.startsWith('test/service/storage/') || anyStorage.includes(file)) continue;
    if (starts.test(await readFile(join(root, file), 'utf8'))) found.push(file);
  }
  return found.toSorted();
}
