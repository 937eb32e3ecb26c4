import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres } from './postgres/server.ts';

/*
 * `npm run test:node [-- <file>…]`: the tests that run in Node, by default all of them. Those of the service run a second
 * time with PostgreSQL as its storage. One server is for all of them; with TEST_DATABASE_URL it is that one.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const asked = process.argv.slice(2);

const given = process.env['TEST_DATABASE_URL'];
const server = given ? undefined : await startPostgres();
const database = { TEST_DATABASE_URL: given ?? server?.url };
try {
  const code = await run(asked.length > 0 ? asked : ['test/**/*.node-test.ts'], {
    ...database,
    TEST_STORAGE: 'sqlite',
  });
  const again = await storageTests(asked.length > 0 ? asked : ['test/service/**', 'test/threats/**']);
  console.log(`\nThe tests of the service again, with PostgreSQL as its storage: ${again.length} files.\n`);
  const codeAgain = again.length > 0 ? await run(again, { ...database, TEST_STORAGE: 'postgres' }) : 0;
  process.exitCode = code || codeAgain;
} finally {
  await server?.stop();
}

/** Runs tests and resolves with the exit code. */
async function run(files: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const args = ['--disable-warning=ExperimentalWarning', '--test', ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  // A terminal sends its interrupt to both, and the tests end by it.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', ignore);
  return code ?? 1;
}

/**
 * The files whose tests start the service on the storage that TEST_STORAGE names. Those of the storage itself run on both
 * kinds each time.
 */
async function storageTests(patterns: readonly string[]): Promise<string[]> {
  // What starts it, by the names that the tests import it by.
  const starts =
    /\b(?:startService|startPlugin|startWithPlugins|startTokenServers|engineUnderTest)\b|\blisten\b.*harness\.ts/;
  const found: string[] = [];
  for await (const file of glob(patterns, { cwd: root })) {
    if (!file.endsWith('.node-test.ts') || !/^test\/(?:service|threats)\//.test(file)) continue;
    if (file.startsWith('test/service/storage/')) continue;
    if (starts.test(await readFile(new URL(file, new URL('..', import.meta.url)), 'utf8'))) found.push(file);
  }
  return found.toSorted();
}
