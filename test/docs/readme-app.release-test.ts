import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningDemo, launchChromium, startDemo } from '../demo/harness.ts';
import { blocksIn, readme, root, snippet } from './markdown.ts';
import { type Project, createProject } from './package.ts';
import { Connection, deploy, signIn } from '../support/connection.ts';
import { until } from '../support/until.ts';

// The steps of the README: `npm start`, a token, copies of the page and the server, and a deployed plugin.

let demo: RunningDemo;
let place: Project;
let token: string;
before(async () => {
  [demo, place] = await Promise.all([startDemo(), createProject({ packages: ['express'] })]);
  token = await environmentToken();
});
after(async () => {
  await demo?.stop();
  await place?.[Symbol.asyncDispose]();
});

/** The value that the block of the README assigns to `ENVIRONMENT_TOKEN`. */
async function environmentToken(): Promise<string> {
  const block = blocksIn(readme).find(({ code }) => code.includes('export ENVIRONMENT_TOKEN='));
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', `${block?.code}\nprintf %s "$ENVIRONMENT_TOKEN"`],
    { cwd: fileURLToPath(root), env: { ...process.env, DATA_DIR: demo.dataDir } },
  );
  assert.match(stdout, /^\S{20,}$/);
  return stdout;
}

/** Builds and deploys a plugin, as the editor does it. */
async function deployPlugin(name: string, source: string): Promise<void> {
  const plugin = `com.acme.customer-7/default/${name}`;
  using connection = new Connection(demo.service);
  await deploy(connection, plugin, await signIn(connection, plugin, token), source, 'typescript');
}

test('the page and the server of the README open the editor of the local service, and run what was deployed', async () => {
  const service = demo.service.replace(/\/$/, '');
  const local = { 'http://localhost:8082': service };
  await place.write('index.html', snippet('index.html', local));
  await place.write(
    'server.mjs',
    `${snippet('server.mjs', local).replace('app.listen(process.env.PORT ?? 3000)', 'export const server = app.listen(process.env.PORT ?? 3000)')}
server.on('listening', () => console.log(server.address().port));`,
  );
  const child = spawn(process.execPath, ['server.mjs'], {
    cwd: place.directory,
    env: { ...process.env, ENVIRONMENT_TOKEN: token, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const browser = await launchChromium();
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const app = `http://localhost:${Number(String(line))}`;

    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const messages: string[] = [];
    page.on('pageerror', (error) => messages.push(String(error)));
    await page.goto(app);
    await page.waitForFunction(() =>
      ['ready', 'error'].includes(document.querySelector('plugin-editor')?.state ?? ''),
    );
    assert.equal(await page.$eval('plugin-editor', ({ error }) => error?.message), undefined);
    const frame = await page.waitForFrame((one) => one.url().startsWith(`${service}/editor/`));
    await frame.waitForFunction(() =>
      document.querySelector('.cm-content')?.textContent?.includes('export function run'),
    );
    // Its request is apart from those of the editor.
    await page.waitForFunction(() => document.querySelector('plugin-features')?.state === 'ready');
    assert.deepEqual(messages, []);

    const price = async () => {
      const response = await fetch(`${app}/price`);
      return [response.status, await response.text()];
    };
    assert.deepEqual(await price(), [502, 'No price: version-not-found']);
    await deployPlugin('price-rule', snippet('plugin.ts'));
    // A node learns of the live version within a second.
    await until('a price', async () => (await price())[0] === 200);
    assert.deepEqual(await price(), [200, '{"total":108}']);
    assert.match(readme, /answers `\{"total":108\}`/);
  } finally {
    await browser.close();
    child.kill();
    await ended;
  }
});
