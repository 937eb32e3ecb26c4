import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runNode } from '../tools/run-node.js';
import { parseDatabaseUrl } from '../service/src/storage/database-url.ts';
import { migrateDatabase } from '../service/src/storage/storage.ts';
import { createDatabase } from './postgres/databases.ts';
import { startPostgres } from './postgres/server.ts';
import { startChromium } from './support/chromium.ts';
import { type NodeRun, groupsOf, releaseRuns, testRuns } from './tiers.ts';

/*
 * `npm run test:node -- <file>…`: these files, on SQLite; with TEST_STORAGE=postgres on PostgreSQL, and with TEST_POSTGRES=oldest on
 * its oldest release. Without files, or with `release`: what `npm test` or `npm run test:release` runs in Node; with `release <title>`
 * one run of the latter.
 *
 * With TEST_DATABASE_URL that server is used, whatever its release.
 *
 * How many seconds each file took is in node_modules/.cache/plugin-editor/durations-*.txt, the slowest first.
 */

const { env } = process;
const cache = join(root, 'node_modules/.cache/plugin-editor');

const names = process.argv.slice(2);
const [, onlyRun] = names[0] === 'release' ? names : [];
const titles = releaseRuns().map(({ title }) => title);
if (onlyRun !== undefined && !titles.includes(onlyRun)) {
  console.error(`There is no run "${onlyRun}" of the release. There are: ${titles.join(', ')}.`);
  process.exit(2);
}

/** More than there are cores, because many wait. A run beside another one has as many as there are cores. */
const concurrency = availableParallelism() + (onlyRun === undefined ? 2 : 0);
// A test file and what it starts load the same modules, hundreds of times in a run.
env['NODE_COMPILE_CACHE'] ??= join(cache, 'compiled');
const builtService = new URL('support/built-service.js', import.meta.url).href;
if (!env['NODE_OPTIONS']?.includes(builtService))
  env['NODE_OPTIONS'] = [env['NODE_OPTIONS'], `--import=${builtService}`].filter(Boolean).join(' ');

// Failures are printed once more at the end, because they are hard to find in the long list of what passed.
const failures: string[] = [];
const reports = await mkdtemp(join(tmpdir(), 'plugin-editor-tests-'));

// A few files start one themselves, if they need one.
const isWhole = names.length === 0 || (names[0] === 'release' && onlyRun === undefined);
const chromium = isWhole ? await startChromium() : undefined;
if (chromium) env['TEST_CHROMIUM'] = chromium.wsEndpoint();

try {
  const runs = chosenRuns();
  for (const [i, one] of runs.entries()) {
    if (one.isBeside && i > 0) continue;
    const next = runs[i + 1];
    const codes = await Promise.all([runOne(one), next?.isBeside ? runBeside(next) : 0]);
    const code = Math.max(...codes);
    process.exitCode ||= code;
    // Past 128 a signal has ended it.
    if (code > 128) break;
  }
} finally {
  await chromium?.close();
  await rm(reports, { recursive: true });
}
if (failures.length > 0) console.log(`\nWhat failed:\n${failures.join('')}`);

function chosenRuns(): NodeRun[] {
  if (names.length === 0) return testRuns();
  if (names[0] === 'release') return releaseRuns().filter((one) => one.title === (onlyRun ?? one.title));
  const storage = env['TEST_STORAGE'] === 'postgres' ? 'postgres' : 'sqlite';
  const postgres = env['TEST_POSTGRES'] === 'oldest' ? 'oldest' : 'newest';
  // On SQLite the few files that also need PostgreSQL start it themselves.
  return [{ title: storage, files: names, storage, ...(storage === 'postgres' && { postgres }) }];
}

/** Resolves with the exit code. */
async function runOne({ title, files, storage, postgres }: NodeRun): Promise<number> {
  console.log(`\nThe tests in Node (${title}): ${files.length} files.\n`);
  env['TEST_STORAGE'] = storage;
  if (!postgres) return runFiles(title, files);

  env['TEST_POSTGRES'] = postgres;
  const server = env['TEST_DATABASE_URL'] ? undefined : await startPostgres();
  if (server) env['TEST_DATABASE_URL'] = server.url;
  const template = await createDatabase();
  try {
    await migrateDatabase(parseDatabaseUrl(template.url));
    env['TEST_DATABASE_TEMPLATE'] = new URL(template.url).pathname.slice(1);
    return await runFiles(title, files);
  } finally {
    await template.drop();
    await server?.stop();
    if (server) delete env['TEST_DATABASE_URL'];
    delete env['TEST_DATABASE_TEMPLATE'];
  }
}

/** Runs it in a process of its own, whose output follows at the end. Resolves with the exit code. */
async function runBeside(run: NodeRun): Promise<number> {
  const output: Buffer[] = [];
  const args = ['test/run-node-tests.ts', 'release', run.title];
  const code = await runNode(args, process.execPath, (chunk) => output.push(chunk));
  process.stdout.write(Buffer.concat(output));
  return code;
}

async function runFiles(title: string, files: readonly string[]): Promise<number> {
  const report = join(reports, title);
  const code = await runNode([
    '--test',
    `--test-concurrency=${concurrency}`,
    // A test that waits for ever fails, and does not keep its file from ending. The container image takes more than ten minutes where
    // sixteen programs share two cores.
    `--test-timeout=${15 * 60_000}`,
    '--test-force-exit',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./test/support/failure-reporter.ts',
    `--test-reporter-destination=${report}`,
    '--test-reporter=./test/support/duration-reporter.ts',
    `--test-reporter-destination=${join(cache, `durations-${title}.txt`)}`,
    ...(await writeEntries(title, files)),
  ]);
  const text = await readFile(report, 'utf8').catch(() => '');
  if (text) failures.push(`\nIn ${title}:\n${text}`);
  return code;
}

/** Writes a module for each process, which runs its files in turn. Node starts them in the order of their names. */
async function writeEntries(title: string, files: readonly string[]): Promise<string[]> {
  const folder = join(reports, `${title}-processes`);
  await mkdir(folder);
  const inTurn = new URL('support/in-turn.ts', import.meta.url).href;
  return Promise.all(
    groupsOf(files).map(async (group, i) => {
      const name = `${String(i).padStart(2, '0')}-${group.name.replaceAll('/', '-')}.mjs`;
      const paths = group.files.map((file) => join(root, file));
      const code = `import { runInTurn } from ${JSON.stringify(inTurn)};\nrunInTurn(${JSON.stringify(paths)});\n`;
      await writeFile(join(folder, name), code);
      return join(folder, name);
    }),
  );
}
