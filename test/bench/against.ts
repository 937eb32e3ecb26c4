import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '../support/connection.ts';
import { startLoadProcess } from './executions/load.ts';
import type { LoadProcess } from './executions/load.ts';
import { type Example, hello, order } from './executions/plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from './executions/service-process.ts';
import { compare, measureInRounds, measureThroughput } from './executions/throughput.ts';
import { installTools } from './executions/tools.ts';
import { type Figure, median } from './figures.ts';

const rounds = 11;
/** How long each of the two is measured in a round, in seconds. */
const roundSeconds = 1.5;
const warmUpSeconds = 2;
/** How often a request is sent in a round. */
const requestsEach = 100;

/** The present service beside that of a former commit: it may be slower by 5 % at most. */
export async function measureAgainst(commit: string): Promise<Figure[]> {
  await using sides = await startBoth(commit);
  const figures = await compareRuns(commit, sides, [
    ...hellos,
    ['order of 300 lines, 16 connections', order(), 16],
  ]);
  return [...figures, ...(await compareRequests(commit, sides))];
}

/** "Hello" beside itself at a former commit. */
export async function measureHelloAgainst(commit: string): Promise<Figure[]> {
  await using sides = await startBoth(commit);
  return await compareRuns(commit, sides, hellos);
}

type MeasuredRun = readonly [name: string, example: Example, connections: number];

const hellos: readonly MeasuredRun[] = [
  ['"Hello", 16 connections', hello('measured'), 16],
  ['"Hello", one connection', hello('measured'), 1],
];

interface Sides {
  readonly now: Side;
  readonly former: Side;
}

async function startBoth(commit: string): Promise<Sides & AsyncDisposable> {
  await installTools();
  const cleanUp = new AsyncDisposableStack();
  try {
    const { project } = cleanUp.use(await buildFormer(commit));
    const now = cleanUp.use(await Side.start());
    const former = cleanUp.use(await Side.start(project));
    return { now, former, [Symbol.asyncDispose]: () => cleanUp.disposeAsync() };
  } catch (error) {
    await cleanUp.disposeAsync();
    throw error;
  }
}

async function compareRuns(
  commit: string,
  { now, former }: Sides,
  examples: readonly MeasuredRun[],
): Promise<Figure[]> {
  using load = startLoadProcess();
  const figures: Figure[] = [];
  for (const [name, example, connections] of examples) {
    const [ours, theirs] = await Promise.all(
      [now, former].map((side) => side.runs(load, example, connections)),
    );
    if (!ours || !theirs) throw new Error('Two services are compared.');
    for (const measure of [ours, theirs]) await measure(warmUpSeconds);
    const measured = await measureInRounds(rounds, {
      ours: () => ours(roundSeconds),
      theirs: () => theirs(roundSeconds),
    });
    const ratio = compare(measured.ours, measured.theirs);
    figures.push({ name: `${name}, against ${commit}`, limit: 0.95, bound: 'at least', unit: '×', ...ratio });
  }
  return figures;
}

async function compareRequests(commit: string, { now, former }: Sides): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const what of ['reading a draft', 'saving a draft', 'a request without a run'] as const) {
    const ratios: number[] = [];
    const times = { ours: [] as number[], theirs: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      const ours = await now.time(what);
      const theirs = await former.time(what);
      if (round < 0) continue;
      times.ours.push(ours);
      times.theirs.push(theirs);
      ratios.push(ours / theirs);
    }
    figures.push({
      name: `${what}, against ${commit}`,
      value: median(ratios),
      limit: 1.05,
      unit: '×',
      note: `${median(times.ours).toFixed(3)} ms against ${median(times.theirs).toFixed(3)} ms`,
    });
  }
  return figures;
}

/** The project as it was at a commit, built in a folder that is removed in the end. */
async function buildFormer(commit: string): Promise<{ project: string } & AsyncDisposable> {
  const project = await mkdtemp(join(tmpdir(), 'plugin-editor-former-'));
  const run = (program: string, args: string[], cwd?: string) =>
    promisify(execFile)(program, args, { ...(cwd !== undefined && { cwd }), maxBuffer: 2 ** 26 });
  const remove = async () => {
    await run('git', ['worktree', 'remove', '--force', project]).catch(() => {});
    await rm(project, { recursive: true, force: true });
  };
  try {
    await run('git', ['worktree', 'add', '--detach', '--force', project, commit]);
    console.log(`\nBuilding ${commit}`);
    await run(process.execPath, ['tools/run.js', 'tools/build/packages.ts'], project);
  } catch (error) {
    await remove();
    throw error;
  }
  return { project, [Symbol.asyncDispose]: remove };
}

/** One of the two services, with a draft in it. */
class Side implements AsyncDisposable {
  readonly #service: ServiceProcess;
  readonly #cleanUp: AsyncDisposableStack;
  readonly #connection: Connection;
  readonly #draft = `/api/v1/draft/${environment}.t1/default/draft`;
  #editorToken = '';
  #saves = 0;

  private constructor(service: ServiceProcess, cleanUp: AsyncDisposableStack) {
    this.#service = service;
    this.#connection = new Connection(`http://127.0.0.1:${service.port}`);
    this.#cleanUp = cleanUp;
  }

  static async start(project?: string): Promise<Side> {
    const cleanUp = new AsyncDisposableStack();
    const { path } = cleanUp.use(createDataDirectory());
    const service = cleanUp.use(
      await ServiceProcess.start(path, {
        variables: {
          TOKEN_REQUESTS_PER_MINUTE: '0',
          ADDRESS_REQUESTS_PER_MINUTE: '0',
          EDITOR_TOKEN_TTL: '86400',
        },
        ...(project !== undefined && { project }),
      }),
    );
    const side = new Side(service, cleanUp);
    const { body } = await side.#send(
      'GET',
      `/auth/v2/access/${environment}.t1/default/draft`,
      service.tokenFor(`${environment}.t1`),
    );
    side.#editorToken = (JSON.parse(body) as { token: string }).token;
    await side.time('saving a draft');
    return side;
  }

  /** Deploys a plugin, and returns what measures its runs for a number of seconds. */
  async runs(load: LoadProcess, { contents, input, output }: Example, connections: number) {
    const plugin = {
      ident: `${environment}.t1`,
      name: `measured-${connections}-${contents.length}`,
      lang: 'javascript',
      contents,
    };
    await this.#service.deploy(plugin);
    const requests = [{ path: executionPath(plugin), body: input, expected: output }];
    const token = this.#service.tokenFor(plugin.ident);
    return (seconds: number) =>
      measureThroughput(load, this.#service, { token, connections, requests, seconds });
  }

  /** The median time of one request, in ms. */
  async time(what: 'reading a draft' | 'saving a draft' | 'a request without a run'): Promise<number> {
    const times: number[] = [];
    for (let i = 0; i < requestsEach; i++) {
      const start = performance.now();
      if (what === 'reading a draft') await this.#send('GET', this.#draft, this.#editorToken);
      else if (what === 'saving a draft') await this.#save();
      else
        await this.#send(
          'POST',
          `/exec/${environment}.t1/default/draft/v9.9.9`,
          this.#service.tokenFor(`${environment}.t1`),
          404,
        );
      times.push(performance.now() - start);
    }
    return median(times);
  }

  #save() {
    const contents = `// ${this.#saves++}\n`.padEnd(10_000, 'x');
    const body = JSON.stringify({ contents, lang: 'javascript' });
    return this.#send('POST', this.#draft, this.#editorToken, 200, body);
  }

  async #send(method: string, path: string, token: string, expected = 200, body?: string) {
    const type = body === undefined ? 'text/plain' : 'application/json';
    const response = await this.#connection.send(method, path, { token, type, ...(body && { body }) });
    if (response.status !== expected)
      throw new Error(`${method} ${path} was answered with ${response.status}.`);
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.#cleanUp.disposeAsync();
  }
}
