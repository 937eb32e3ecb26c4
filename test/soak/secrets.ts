import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, globSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { processTree } from '../bench/executions/processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from '../bench/executions/service-process.ts';
import type { Figure } from '../bench/figures.ts';
import { startUpstream } from '../service/outbound/upstream.ts';
import type { UpstreamRequest } from '../service/outbound/upstream.ts';
import { freePort } from '../support/free-port.ts';
import { resetConnection } from '../support/reset-connection.ts';
import { until } from '../support/until.ts';

/** What must not be found, and what has to be, so that the search is known to work. */
interface Sought {
  readonly what: string;
  readonly text: string;
}

/** How often each run is made. */
const rounds = 2;

/** How an upstream gives back what it was sent, or does not. Each is a path. */
const behaviours: Readonly<Record<string, (sent: UpstreamRequest, response: ServerResponse) => unknown>> = {
  good: (_, response) => response.end('good'),
  body: ({ headers }, response) => response.end(JSON.stringify(headers)),
  header: ({ headers }, response) => response.writeHead(200, { 'x-sent': secretIn(headers) }).end(),
  status: ({ headers }, response) => response.writeHead(200, secretIn(headers)).end(),
  redirect: ({ headers }, response) => response.writeHead(302, { location: `/?${secretIn(headers)}` }).end(),
  cookie: ({ headers }, response) => response.writeHead(200, { 'set-cookie': secretIn(headers) }).end(),
  trailer: ({ headers }, response) => {
    response.writeHead(200, { trailer: 'x-sent', 'transfer-encoding': 'chunked' });
    response.addTrailers({ 'x-sent': secretIn(headers) });
    response.end('good');
  },
  compressed: ({ headers }, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(secretIn(headers))),
  cut: ({ headers }, response) => {
    response.writeHead(200, { 'content-length': '100000' });
    response.write(secretIn(headers), () => response.socket && resetConnection(response.socket));
  },
  long: ({ headers }, response) => response.end(secretIn(headers).repeat(100_000)),
  hang: () => {},
};

const secretIn = (headers: UpstreamRequest['headers']): string =>
  headers['x-key'] ?? headers['authorization'] ?? '';

/** Does what it can to keep, show and log what it gets. */
const greedy = (origin: string) => `const kept = [];
export async function run(input) {
  const { path, isCaught, text } = JSON.parse(input);
  kept.push(text);
  const asked = fetch('${origin}' + path, { method: 'POST', body: text, headers: { 'x-key': 'mine', authorization: 'mine' } });
  try {
    const response = await asked;
    const found = [response.status, response.statusText, response.url, ...response.headers, await response.text()];
    console.log(JSON.stringify(found));
    return JSON.stringify(found);
  } catch (error) {
    console.log(String(error), error.code, error.stack, JSON.stringify(error, Object.getOwnPropertyNames(error)), String(error.cause));
    if (!isCaught) throw error;
    return String(error);
  }
}
`;

const tenants = ['t1', 't2'];

/**
 * Searches for two tenants' credentials, one of their environment and the tokens of identities, after runs that got them back in
 * every way. They must be in no file, record, log line or answer, neither in the memory of the processes that the service has
 * started nor in its own heap.
 */
export async function measureSecrets(): Promise<Figure[]> {
  await using upstream = await startUpstream();
  using data = createDataDirectory();
  const origin = `http://localhost:${upstream.port}`;
  const metricsPort = await freePort();
  await using service = await ServiceProcess.start(data.path, {
    variables: {
      OUTBOUND_ALLOW: origin,
      RUN_RECORDS: 'payloads',
      LOG_LEVEL: 'trace',
      METRICS_PORT: String(metricsPort),
      CALL_TIMEOUT_MS: '1000',
      TOKEN_REQUESTS_PER_MINUTE: '0',
      ADDRESS_REQUESTS_PER_MINUTE: '0',
      NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${data.path}`,
    },
  });
  const secrets: Sought[] = [];
  const secret = (what: string): string => {
    const text = randomBytes(20).toString('hex');
    secrets.push({ what, text });
    return text;
  };
  const planted: Sought = { what: 'input of a run', text: randomBytes(20).toString('hex') };
  const answers: string[] = [];
  const token = service.tokenFor(`${environment}.t1`);
  const ask = async (method: string, path: string, body?: string, authorization = token) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method,
      ...(body !== undefined && { body }),
      headers: {
        authorization: `Bearer ${authorization}`,
        'content-type':
          path.startsWith('/exec/') || path.includes('/test/') ? 'text/plain' : 'application/json',
      },
    });
    const text = await response.text();
    answers.push(JSON.stringify([...response.headers]) + text);
    return { status: response.status, text, id: response.headers.get('x-request-id') ?? '' };
  };

  // They begin with the same header, as long as a key signs.
  const tokenStarts = new Set<string>();
  upstream.handle = (request, response) => {
    const [, start] = /^Bearer (\S+\.eyJ)/.exec(request.headers['authorization'] ?? '') ?? [];
    if (start !== undefined) tokenStarts.add(start);
    behaviours[request.url.split('/')[2] ?? '']?.(request, response);
  };
  const header = { type: 'header', header: 'x-key', prefix: 'key ' };
  const methods = ['POST'];
  await service.setNamespace(environment, {
    connections: [
      { name: 'own', origin, pathPrefix: '/own', methods, credential: header },
      { name: 'shared', origin, pathPrefix: '/shared', methods, credential: header },
      { name: 'vendor', origin, pathPrefix: '/vendor', methods, credential: { type: 'identity' } },
    ],
  });
  const plugins = tenants.map((tenant) => ({
    ident: `${environment}.${tenant}`,
    name: 'greedy',
    lang: 'javascript',
    contents: greedy(origin),
  }));
  await service.deployAll(plugins);
  const ofEnvironment = `/api/v1/environment/${environment}`;
  await ask(
    'PUT',
    `${ofEnvironment}/connections/default/shared`,
    JSON.stringify({ value: secret('of all') }),
  );
  for (const { ident } of plugins) {
    const path = `/api/v1/tenant/${ident}/connections/default`;
    await ask('PUT', `${path}/own`, JSON.stringify({ value: secret(`refused, ${ident}`) + '\n' }));
    await ask('PUT', `${path}/vendor`, JSON.stringify({ value: secret(`refused, ${ident}`) }));
    await ask('PUT', `${path}/own`, `{ "value": "${secret(`not JSON, ${ident}`)}" ]`);
    await ask('PUT', `${path}/own`, JSON.stringify({ value: secret(`replaced, ${ident}`) }));
    await ask('PUT', `${path}/own`, JSON.stringify({ value: secret(`of ${ident}`) }));
  }

  const inputs = ['own', 'shared', 'vendor'].flatMap((connection) =>
    Object.keys(behaviours).flatMap((behaviour) =>
      [true, false].map((isCaught) =>
        JSON.stringify({ path: `/${connection}/${behaviour}`, isCaught, text: planted.text }),
      ),
    ),
  );
  const ids: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const runs = plugins.flatMap((plugin) =>
      inputs.map(async (input) => ids.push((await ask('POST', executionPath(plugin), input)).id)),
    );
    await Promise.all(runs);
  }
  for (const { ident } of plugins) {
    const { text } = await ask('GET', `/auth/v2/access/${ident}/default/greedy`);
    const { token: editor } = JSON.parse(text) as { token: string };
    for (const input of inputs)
      await ask('POST', `/api/v1/test/${ident}/default/greedy?calls=real`, input, editor);
    await ask('GET', `/api/v1/types/${ident}/default/greedy`, undefined, editor);
    await ask('GET', `/api/v1/tenant/${ident}/connections`);
    await ask('GET', `/api/v1/plugin/${ident}/default/greedy/runs?limit=1000`);
  }
  for (const path of ['connections', 'audit?limit=500', 'namespaces', 'usage'])
    await ask('GET', `${ofEnvironment}/${path}`);
  const last = ids.at(-1) ?? '';
  await until(
    'the last run is recorded',
    async () => (await ask('GET', `/api/v1/run/${last}`)).status === 200,
  );
  for (const id of ids.slice(-2 * inputs.length)) await ask('GET', `/api/v1/run/${id}`);
  answers.push(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());

  const [, ...started] = processTree(service.pid);
  const memories = new Map(started.map((pid) => [`memory of process ${pid}`, () => memoryOf(pid)]));
  for (const text of tokenStarts) secrets.push({ what: 'token of an identity', text });
  const key = readFileSync(join(data.path, 'secrets.key'), 'utf8').trim();
  const search = new Search([...secrets, { what: 'key of the secrets', text: key }], planted);
  search.look('answers', answers);
  for (const [place, chunks] of memories) search.look(place, chunks());
  for (const file of globSync('**', { cwd: data.path })) {
    const path = join(data.path, file);
    if (statSync(path).isFile() && file !== 'secrets.key') search.look(`file ${file}`, [readFileSync(path)]);
  }
  process.kill(service.pid, 'SIGUSR2');
  const written = () => globSync('*.heapsnapshot', { cwd: data.path })[0];
  await until('the heap is written', () => isWhole(data.path, written()));
  // Of the inputs nothing has to be left there.
  const searchOfHeap = new Search(secrets, { what: 'setting', text: origin });
  searchOfHeap.look('heap of the service', [readFileSync(join(data.path, written() ?? ''))]);

  const note = `${secrets.length} secrets after ${ids.length} runs, in ${search.places + searchOfHeap.places} places`;
  const found = [...search.found, ...searchOfHeap.found];
  for (const one of found) console.log(`  ${one}`);
  return [
    { name: 'places with a credential', value: found.length, limit: 0, unit: '', note },
    {
      name: 'places in which the search finds what is there',
      value: search.planted.length + searchOfHeap.planted.length,
      limit: 3,
      bound: 'at least',
      unit: '',
      note: [...search.planted, ...searchOfHeap.planted].join(', '),
    },
  ];
}

/** Whether a file is there, and has its end. */
function isWhole(folder: string, file: string | undefined): boolean {
  return file !== undefined && /\]\s*\}\s*$/.test(readFileSync(join(folder, file)).subarray(-100).toString());
}

/** Looks for texts in all forms in which they might be kept. */
class Search {
  readonly found: string[] = [];
  /** Where the text is that may be there. */
  readonly planted: string[] = [];
  places = 0;
  readonly #sought: readonly { readonly what: string; readonly forms: readonly Buffer[] }[];
  readonly #planted: Sought;

  constructor(sought: readonly Sought[], planted: Sought) {
    this.#sought = sought.map(({ what, text }) => ({
      what,
      forms: [
        Buffer.from(text),
        Buffer.from(text, 'utf16le'),
        // As in the middle of a longer text: what comes before changes the first characters.
        ...[0, 1, 2].map((shift) =>
          Buffer.from(
            Buffer.from('x'.repeat(shift) + text)
              .toString('base64')
              .slice(4, -4),
          ),
        ),
        Buffer.from(Buffer.from(text).toString('hex')),
      ],
    }));
    this.#planted = planted;
  }

  look(place: string, chunks: Iterable<Buffer | string>): void {
    this.places += 1;
    const found = new Set<string>();
    for (const chunk of chunks) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (const { what, forms } of this.#sought)
        if (!found.has(what) && forms.some((form) => bytes.includes(form))) found.add(what);
      if (bytes.includes(this.#planted.text) && this.planted.at(-1) !== place) this.planted.push(place);
    }
    for (const what of found) this.found.push(`${place}: ${what}`);
  }
}

const regionPart = 2 ** 24;

/**
 * What a process has written to its memory, in parts of a region at most; nothing of one that has ended. A text may be cut where a
 * part ends, which is rare.
 */
function* memoryOf(pid: number): Generator<Buffer> {
  if (!existsSync(`/proc/${pid}/mem`)) return;
  const regions = [...readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/^([\da-f]+)-([\da-f]+) rw/gm)];
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const bytes = Buffer.alloc(regionPart);
  try {
    for (const [, from = '', to = ''] of regions) {
      const end = parseInt(to, 16);
      for (let at = parseInt(from, 16); at < end; at += regionPart) {
        try {
          const size = readSync(memory, bytes, 0, Math.min(regionPart, end - at), at);
          yield bytes.subarray(0, size);
        } catch {
          // It is reserved, or was given back meanwhile.
        }
      }
    }
  } finally {
    closeSync(memory);
  }
}
