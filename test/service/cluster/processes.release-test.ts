import assert from 'node:assert/strict';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { until } from '../../support/until.ts';
import { runCommand } from '../cli/service-command.ts';
import { bearer, temporaryDirectory } from '../harness.ts';
import { databaseWithSchema, openDuring } from '../storage/databases.ts';

interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One connection, which is opened anew where it was closed. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(base: string, headers: Record<string, string>) {
    this.#base = base;
    this.#headers = headers;
  }

  send(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> {
    const options = { method, agent: this.#agent, headers: { ...this.#headers, ...headers } };
    return new Promise((resolve, reject) => {
      const request = httpRequest(this.#base + path, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      request.on('error', reject).end(body);
    });
  }

  run(plugin = 'com.acme.t1/default/add-record', input = ''): Promise<HttpResponse> {
    return this.send('POST', `/exec/name/${plugin}`, input, { 'content-type': 'text/plain' });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A node of two processes on PostgreSQL. */
async function start(t: TestContext, env: Record<string, string>) {
  const address = await databaseWithSchema(t, 'postgres');
  const token = await provisionEnvironmentToken(await openDuring(t, address), 'com.acme');
  const command = runCommand(t, address, ['serve'], {
    PROCESSES: '2',
    DATA_DIR: temporaryDirectory(t),
    METRICS_PORT: '0',
    TOKEN_REQUESTS_PER_MINUTE: '0',
    RUN_TIMEOUT_MS: '10000',
    ...env,
  });
  const { base, metricsPort } = await command.serving();
  const headers = bearer(token);
  const connect = () => {
    const client = new Client(base, headers);
    t.after(() => client.close());
    return client;
  };
  /** The id of the process that answers a client. */
  const processOf = async (client: Client): Promise<number> => {
    const id = (await client.send('GET', '/api/v1/features')).headers['x-request-id'];
    const line = await command.line(({ requestId }) => requestId === id);
    return Number(line['pid']);
  };
  /** A client of each of two processes, and further ones as they come. */
  const connectToBoth = async () => {
    const clients = new Map<number, Client[]>();
    while (clients.size < 2) {
      const client = connect();
      const process = await processOf(client);
      clients.set(process, [...(clients.get(process) ?? []), client]);
    }
    const [[, [one]], [, [other]]] = [...clients] as [[number, [Client]], [number, [Client]]];
    return { one, other, clients };
  };
  return { command, base, metricsPort, connect, connectToBoth, processOf };
}

const editorPath = 'com.acme.t1/default/add-record';

async function deploy(client: Client, code: string): Promise<void> {
  const access = await client.send('GET', `/auth/v2/access/${editorPath}`);
  const headers = bearer((JSON.parse(access.body) as { token: string }).token);
  const built = await client.send('POST', `/api/v1/build/javascript/${editorPath}`, code, headers);
  assert.equal(built.status, 200, built.body);
  const deployed = await client.send('POST', `/api/v1/draft/${editorPath}/promote`, '', headers);
  assert.equal(deployed.status, 200, deployed.body);
}

test('two processes are one node', async (t) => {
  const { command, metricsPort, connect, connectToBoth, processOf } = await start(t, { DRAIN_SECONDS: '2' });
  const { one, other, clients } = await connectToBoth();

  const counted = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const [, count] = /^plugin_service_run_duration_seconds_count\{outcome="ok"\} (\d+)$/m.exec(text) ?? [];
    return Number(count);
  };
  let runs = 0;

  await t.test('what one process acknowledges the other knows at once', async () => {
    for (let i = 0; i < 6; i++) {
      const [deploying, running] = i % 2 ? [one, other] : [other, one];
      await deploy(deploying, `export const run = () => '${i}';`);
      for (const client of [running, deploying]) {
        assert.equal((await client.run()).body, String(i));
        runs += 1;
      }
    }
  });

  await t.test('metrics count the runs of both', async () => {
    assert.equal(await counted(), runs);
  });

  await t.test('a rate holds for both together', async () => {
    const limits = JSON.stringify({ limits: { runsPerMinute: 100 } });
    const json = { 'content-type': 'application/json' };
    assert.equal((await one.send('POST', '/api/v1/tenant/com.acme.t2', limits, json)).status, 201);
    const many = [...clients.values()].flat();
    const answers = await Promise.all(
      many.flatMap((client) =>
        Array.from({ length: Math.ceil(300 / many.length) }, () => client.run('com.acme.t2/default/none')),
      ),
    );
    const passed = answers.filter(({ status }) => status !== 429).length;
    assert.ok(passed >= 90 && passed <= 110, `${passed} of 100 passed`);
  });

  await t.test('where one is killed the other answers, and another takes its place', async () => {
    const killed = await processOf(one);
    const before = await counted();
    const replaced = new AbortController();
    const load = [one, other, connect(), connect()].map(async (client) => {
      const isOfOther = client === other;
      let answered = 0;
      while (!replaced.signal.aborted || answered < 5) {
        const status = await client.run().then(
          (response) => response.status,
          // Its connection is broken, if it was to the killed process.
          (error: unknown) => (isOfOther ? String(error) : undefined),
        );
        if (status === undefined) continue;
        assert.equal(status, 200);
        answered += 1;
      }
    });
    process.kill(killed, 'SIGKILL');
    await command.line(
      ({ msg, process: ended }) => msg.startsWith('A process of the node') && ended === killed,
    );
    let replacement: number | undefined;
    await until('the new process answers', async () => {
      const answering = await processOf(connect());
      if (![...clients.keys()].includes(answering)) replacement = answering;
      return replacement !== undefined;
    });
    replaced.abort();
    await Promise.all(load);
    assert.ok((await counted()) > before, 'what the killed process had counted still counts');
  });

  await t.test('SIGTERM fails no run of either, and ends both', async () => {
    await deploy(
      other,
      `export const run = () => { const end = Date.now() + 50; while (Date.now() < end); return 'ran'; };`,
    );
    let isTold = false;
    let inProgress = 0;
    const load = Array.from({ length: 6 }, async () => {
      const client = connect();
      for (;;) {
        inProgress += 1;
        const { status, body, headers } = await client.run();
        inProgress -= 1;
        assert.deepEqual([status, body], [200, 'ran']);
        if (headers.connection === 'close') return isTold;
      }
    });
    await until('runs are in progress', () => inProgress > 0);
    isTold = true;
    command.kill('SIGTERM');
    assert.deepEqual(
      await Promise.all(load),
      load.map(() => true),
    );
    const { status, err } = await command.done();
    assert.deepEqual([status, err], [0, '']);
    // Each line is JSON, or `logged` throws.
    const pids = new Set(command.logged().map(({ pid }) => pid));
    assert.equal(pids.size, 4, 'the first process, the two that answered and the one that took a place');
    assert.equal(command.logged().at(-1)?.msg, 'The service has ended.');
  });
});

for (const [how, signals, status] of [
  ['a second signal', ['SIGTERM', 'SIGTERM'], 128 + 15],
  ['killing the first process', ['SIGKILL'], null],
] as const) {
  test(`${how} ends all processes at once`, async (t) => {
    const { command, connect } = await start(t, { DRAIN_SECONDS: '600' });
    for (const [i, signal] of signals.entries()) {
      if (i > 0) await command.line(({ msg }) => msg.startsWith('The service ends'));
      command.kill(signal);
    }
    assert.equal((await command.done()).status, status);
    await until('connections are refused', () =>
      connect()
        .send('GET', '/healthz')
        .then(
          () => false,
          (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
        ),
    );
  });
}

test('a mistake that the first process finds ends the start with one line', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  const absent = address.engine === 'postgres' ? address.url.replace(/[^/]+$/, 'nowhere') : '';
  const command = runCommand(t, undefined, ['serve'], { DATABASE_URL: absent, PROCESSES: '2' });
  const { status, out, err } = await command.done();
  assert.deepEqual([status, out], [1, '']);
  assert.match(err, /^The database postgres:.*cannot be used: .*\n$/);
});
