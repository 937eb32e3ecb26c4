import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../support/programs.ts';
import { consumer, installed, node22Program } from './fixture.ts';
import { startInstalled, temporaryDataDirectory } from './service-process.ts';

/** Tries what a plugin outside its sandbox would try, and prints the names of what worked. */
const attempts = `
const { readFileSync, readdirSync, statSync, writeFileSync, writeSync } = require('node:fs');
const [folder, data, own] = process.argv.slice(1);
const tries = {
  own: () => readFileSync(own),
  password: () => readFileSync('/etc/passwd'),
  root: () => readdirSync('/'),
  application: () => readFileSync(folder + '/secret.txt'),
  listing: () => readdirSync(folder + '/node_modules'),
  neighbour: () => readFileSync(folder + '/node_modules/hono-neighbour/secret.txt'),
  cache: () => readFileSync(folder + '/node_modules/.cache/secret.txt'),
  data: () => readFileSync(data + '/service.sqlite'),
  write: () => writeFileSync(folder + '/written.txt', ''),
  children: () => require('node:child_process').execFileSync('/bin/true'),
  network: () => require('node:net').connect(1, '127.0.0.1').on('error', () => {}),
  workers: () => new (require('node:worker_threads').Worker)('', { eval: true }),
};
const worked = Object.keys(tries).filter((name) => { try { tries[name](); return true; } catch { return false; } });
writeSync(1, JSON.stringify(worked));
`;

const options = { skip: process.platform !== 'linux' && 'only Linux shows the command lines of processes' };

describe('the processes of runners and compilers in the installed package', options, () => {
  let data: Awaited<ReturnType<typeof temporaryDataDirectory>>;
  let service: Awaited<ReturnType<typeof startInstalled>>;
  let commandLines: string[][];

  const children = async (pid: number): Promise<number[]> => {
    const file = `/proc/${pid}/task/${pid}/children`;
    const text = await readFile(file, 'utf8').catch(() => '');
    const pids = text.split(' ').filter(Boolean).map(Number);
    return [...pids, ...(await Promise.all(pids.map(children))).flat()];
  };
  const commandLine = async (pid: number) =>
    (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);

  before(async () => {
    for (const folder of ['hono-neighbour', '.cache']) {
      await mkdir(join(consumer, 'node_modules', folder), { recursive: true });
      await writeFile(join(consumer, 'node_modules', folder, 'secret.txt'), '');
    }
    await writeFile(join(consumer, 'secret.txt'), '');
    data = await temporaryDataDirectory();
    service = await startInstalled(data.folder);
    // A runner and a compiler for each language start at once, each by a shell that executes it in its place.
    const isStarted = (lines: string[][]) =>
      lines.some((line) => line.some((word) => word.endsWith('runner-main.js'))) &&
      lines.filter((line) => line.some((word) => word.endsWith('compiler-main.js'))).length === 3;
    const end = Date.now() + 180_000;
    do {
      const lines = await Promise.all((await children(service.pid)).map(commandLine));
      commandLines = lines.filter(
        ([program, option]) => program?.endsWith('/node') && option === '--permission',
      );
      if (Date.now() > end) throw new Error(`They did not start: ${JSON.stringify(lines)}`);
    } while (!isStarted(commandLines));
  });
  after(async () => {
    await service?.stop();
    await data?.remove();
  });

  test('are built JavaScript, and read only packages that the service depends on', async () => {
    const packages = (await readdir(join(consumer, 'node_modules'))).filter((name) => !name.startsWith('.'));
    for (const line of commandLines) {
      assert.deepEqual(
        line.filter((word) => /\.ts$|strip-types/.test(word)),
        [],
      );
      const readable = line.flatMap((word) => /^--allow-fs-read=(.*)/.exec(word)?.[1] ?? []);
      for (const path of readable) {
        const [, name = ''] = path.replace(consumer, '').split('/node_modules/');
        assert.ok(path.startsWith(`${consumer}/`) && packages.includes(name.split('/')[0] ?? ''), path);
      }
      assert.ok(!readable.includes(installed));
    }
  });

  test('are confined to their code, on this Node as well', async () => {
    for (const line of commandLines) {
      const main = line.findIndex((word) => /(?:runner|compiler)-main\.js$/.test(word));
      const isolated = line.slice(1, main);
      const own = join(installed, 'package.json');
      const tries = ['--eval', attempts, consumer, data.folder, own];
      // As the service starts them: without environment variables, such as Node's options.
      const { stdout } = await run(node22Program, [...isolated, ...tries], { env: {} });
      assert.deepEqual(JSON.parse(stdout), ['own']);
      // Without confinement the attempts succeed.
      const open = await run(node22Program, tries);
      assert.equal((JSON.parse(open.stdout) as string[]).length, 12);
    }
  });
});
