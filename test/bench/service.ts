import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService } from '../../service/src/http/create-service.ts';
import { defaultPermissions } from '../../service/src/plugins/permissions.ts';
import { Builds } from '../../service/src/toolchains/build/builds.ts';
import { loadLanguages } from '../../service/src/toolchains/languages.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { createToken } from '../../service/src/tokens.ts';
import type { Figure } from './figures.ts';
import { median } from './figures.ts';
import { startFixture } from './fixture-process.ts';
import { deploy, signIn } from '../support/connection.ts';
import { timeInTurns } from './turns.ts';
import { addEditorToken } from '../../service/src/storage/tables/editor-tokens.ts';
import { addEnvironment } from '../../service/src/storage/tables/environments.ts';
import { addFirstTenant } from '../../service/src/storage/tables/tenants.ts';
import { createDraft } from '../../service/src/storage/tables/drafts.ts';

const languages = loadLanguages();

const plugin = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
const path = 'com.acme.t1/default/add-record';
const trivial = 'export function run(input) { return input + "!"; }\n';

/** The local service: what running, building and storing cost. */
export async function measureService(): Promise<Figure[]> {
  return [...(await measureExecutions()), ...(await measureBuilds()), ...(await measureDrafts())];
}

/** In another process, whose memory is the service's alone. */
async function measureExecutions(): Promise<Figure[]> {
  await using service = await startFixture(200);
  const { connections, environmentToken } = service;
  await deploy(connections, path, await signIn(connections, path, environmentToken), trivial);
  const runVersion = (version: string, body: string) =>
    connections.send('POST', `/exec/${path}/${version}`, { token: environmentToken, body });
  const run = (input: string) => runVersion('v1.0.0', input);
  // The same but for a version that there is not: all is done but the run.
  const look = (input: string) => runVersion('v1.0.9', input);

  const times = await timeInTurns({ run: () => run('x'), look: () => look('x') }, 400, 50);
  const responses = await Promise.all(Array.from({ length: 200 }, (_, i) => run(`${i}`)));
  const wrong = responses.filter(({ status: code, body }, i) => code !== 200 || body !== `${i}!`).length;

  let done = 0;
  const runUntil = async (total: number) => {
    for (; done < total; done += 10) await Promise.all(Array.from({ length: 10 }, () => run('x')));
    return residentMebibytes(service.pid);
  };
  const before = await runUntil(500);
  const after = await runUntil(5000);
  return [
    {
      name: 'one execution, against the same request without a run',
      value: median(times.run) / median(times.look),
      limit: 5,
      unit: '×',
      note: `${median(times.run).toFixed(2)} ms against ${median(times.look).toFixed(2)} ms`,
    },
    { name: 'wrong answers of 200 executions at once', value: wrong, limit: 0, unit: '' },
    {
      name: 'memory after 5,000 executions, more than after 500',
      value: Math.max(0, after - before),
      limit: 50,
      unit: 'MB',
      note: `${before.toFixed(0)} MB, then ${after.toFixed(0)} MB`,
    },
  ];
}

const residentMebibytes = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

async function measureBuilds(): Promise<Figure[]> {
  const builds = new Builds(languages);
  const measure = async (lang: string, limit: number, sourceOf: (i: number) => string): Promise<Figure> => {
    const times = await timeInTurns(
      {
        build: async (i) => {
          const end = await builds.build(lang, {
            source: sourceOf(i),
            owner: { environment: 'com.acme', tenant: 't1', token: '' },
          });
          if (!('compiled' in end) || !end.compiled.program)
            throw new Error(`A build failed: ${JSON.stringify(end)}`);
        },
      },
      20,
      5,
    );
    return { name: `build of ${lang}, warm`, value: median(times.build), limit, unit: 'ms' };
  };
  try {
    return [
      await measure('typescript', 50, hundredLines),
      await measure(
        'assemblyscript',
        500,
        (i) =>
          languages.get('assemblyscript')?.template({ pluginName: `p${i}`, namespace: 'n' }).contents ?? '',
      ),
    ];
  } finally {
    builds.close();
  }
}

const hundredLines = (i: number) =>
  [
    'interface Item { name: string; price: number; tags: Map<string, string[]>; }',
    ...Array.from(
      { length: 96 },
      (_, n) =>
        `const step${n} = (items: Item[]): Item[] => items.filter(({ price }) => price > ${n + i}).map((item) => ({ ...item, name: item.name + "${n}" }));`,
    ),
    'const start = (input: string): Item[] => [{ name: input, price: 1, tags: new Map() }];',
    'const steps = [step0, step1, step2, step95];',
    'export function run(input: string): string { return JSON.stringify(steps.reduce((items, step) => step(items), start(input))); }',
  ].join('\n');

/** Drafts of 10 KB, read and saved in a store with ten of them and in one with ten thousand. */
async function measureDrafts(): Promise<Figure[]> {
  const few = await draftsOf(10);
  const many = await draftsOf(10_000);
  try {
    const reads = await timeInTurns({ few: few.read, many: many.read }, 300, 30);
    const saves = await timeInTurns({ few: few.save, many: many.save }, 300, 30);
    const figure = (what: string, times: { few: number[]; many: number[] }): Figure => ({
      name: `${what} one of 10,000 drafts, against one of 10`,
      value: median(times.many) / median(times.few),
      limit: 1.5,
      unit: '×',
      note: `${median(times.many).toFixed(2)} ms against ${median(times.few).toFixed(2)} ms`,
    });
    return [figure('reading', reads), figure('saving', saves)];
  } finally {
    await few.close();
    await many.close();
  }
}

async function draftsOf(count: number) {
  const directory = mkdtempSync(join(tmpdir(), 'plugin-service-bench-'));
  const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
  const origin = 'http://localhost:8082';
  const service = createService({ storage, editorAssets: new Map(), hosts: ['localhost:8082'] });
  const sourceOf = (i: number) => ({ contents: `// ${i}\n`.padEnd(10_000, 'x'), lang: 'javascript' });
  const nameOf = (i: number) => `plugin-${i % count}`;
  const tokens = Array.from({ length: 10 }, () => createToken('editor'));
  await storage.transaction(async (db) => {
    await addEnvironment(db, 'com.acme', 0);
    await addFirstTenant(db, plugin, 0);
    for (let i = 0; i < count; i++) {
      await createDraft(db, { ...plugin, pluginName: nameOf(i) }, sourceOf(i), { now: 0 });
    }
  });
  // Drafts from all over the table.
  const spread = (i: number) => ((i % 10) * count) / 10;
  for (const [i, token] of tokens.entries()) {
    await addEditorToken(
      storage.db,
      token,
      { scope: { ...plugin, pluginName: nameOf(spread(i)) }, permissions: defaultPermissions },
      Date.now(),
      Date.now() + 3_600_000,
    );
  }
  const send = async (i: number, init: RequestInit) => {
    const headers = { authorization: `Bearer ${tokens[i % 10]}`, 'content-type': 'application/json' };
    const target = `${origin}/api/v1/draft/com.acme.t1/default/${nameOf(spread(i))}`;
    const response = await service.fetch(new Request(target, { ...init, headers }));
    if (response.status !== 200) throw new Error(`A draft was answered with ${response.status}.`);
    await response.text();
  };
  return {
    read: (i: number) => send(i, {}),
    save: (i: number) => send(i, { method: 'POST', body: JSON.stringify(sourceOf(i)) }),
    close: async () => {
      await service.close();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
