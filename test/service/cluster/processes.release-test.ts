import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { kill } from 'node:process';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { Connection, deploy, signIn } from '../../support/connection.ts';
import { freePort } from '../../support/free-port.ts';
import { eventually, until } from '../../support/until.ts';
import { runCommand } from '../cli/service-command.ts';
import { temporaryDirectory } from '../harness.ts';
import { databaseWithSchema, openDuring } from '../storage/databases.ts';

const plugin = 'com.acme.t1/default/add-record';

/** A node of two processes on PostgreSQL. `comeUp` helps it to (default: nothing has to be done). */
async function start(
  t: TestContext,
  env: Record<string, string>,
  comeUp: (command: ReturnType<typeof runCommand>) => Promise<{ base: string; metricsPort: number }> = (
    command,
  ) => command.serving(),
) {
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
  const { base, metricsPort } = await comeUp(command);
  const connect = () => {
    const client = new Connection(base);
    t.after(() => client.close());
    return client;
  };
  const run = (client: Connection, of = plugin) => client.send('POST', `/exec/name/${of}`, { token });
  const deployBy = async (client: Connection, code: string) =>
    deploy(client, plugin, await signIn(client, plugin, token), code);
  /** The process that answers a client, and whether its connection stays: a busy process may give some up to another. */
  const answerFor = async (client: Connection) => {
    const { headers } = await client.send('GET', '/api/v1/features');
    const line = await command.line(({ requestId }) => requestId === headers['x-request-id']);
    return { process: Number(line['pid']), isKept: headers.connection !== 'close' };
  };
  /** The id of the process that answers a client. */
  const processOf = async (client: Connection): Promise<number> => (await answerFor(client)).process;
  /** A client of each of two processes, and further ones as they come. */
  const connectToBoth = async () => {
    const clients = new Map<number, Connection[]>();
    while (clients.size < 2) {
      const client = connect();
      const { process, isKept } = await answerFor(client);
      if (isKept) clients.set(process, [...(clients.get(process) ?? []), client]);
    }
    const [[, [one]], [, [other]]] = [...clients] as [[number, [Connection]], [number, [Connection]]];
    return { one, other, clients };
  };
  return { command, token, metricsPort, connect, connectToBoth, processOf, run, deployBy };
}

test('two processes are one node', async (t) => {
  const node = await start(t, { DRAIN_SECONDS: '2' });
  const { command, token, metricsPort, connect, connectToBoth, processOf, run, deployBy } = node;
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
      await deployBy(deploying, `export const run = () => '${i}';`);
      for (const client of [running, deploying]) {
        assert.equal((await run(client)).body, String(i));
        runs += 1;
      }
    }
  });

  await t.test('metrics count the runs of both', async () => {
    // One that takes long to say what it has counted is taken to have what it had before.
    await eventually(counted, (count) => count === runs);
  });

  await t.test('a rate holds for both together', async () => {
    const body = JSON.stringify({ limits: { runsPerMinute: 100 } });
    const created = { token, type: 'application/json', body };
    assert.equal((await one.send('POST', '/api/v1/tenant/com.acme.t2', created)).status, 201);
    const many = [...clients.values()].flat();
    const answers = await Promise.all(
      many.flatMap((client) =>
        Array.from({ length: Math.ceil(300 / many.length) }, () => run(client, 'com.acme.t2/default/none')),
      ),
    );
    const passed = answers.filter(({ status }) => status !== 429).length;
    assert.ok(passed >= 90 && passed <= 110, `${passed} of 100 passed`);
  });

  await t.test('where one is killed the other answers, and another takes its place', async () => {
    const before = await counted();
    // Others than before, whose connections the processes may have given up since.
    const both = await connectToBoth();
    const [killed = assert.fail()] = both.clients.keys();
    const replaced = new AbortController();
    const load = [both.one, both.other, connect(), connect()].map(async (client) => {
      let isOfOther = client === both.other;
      let answered = 0;
      while (!replaced.signal.aborted || answered < 5) {
        const response = await run(client).catch((error: unknown) => {
          // The connections to the killed process are broken.
          if (isOfOther) throw error;
        });
        if (!response) continue;
        assert.equal(response.status, 200);
        if (response.headers.connection === 'close') isOfOther = false;
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
    await until('what the killed process had counted still counts', async () => (await counted()) > before);
  });

  await t.test('SIGTERM fails no run of either, and ends both', async () => {
    await deployBy(
      other,
      `export const run = () => { const end = Date.now() + 50; while (Date.now() < end); return 'ran'; };`,
    );
    let isTold = false;
    const running = new Set<Connection>();
    const load = Array.from({ length: 6 }, async () => {
      const client = connect();
      let isClosed = false;
      for (;;) {
        const response = await run(client).catch((error: unknown) => {
          // Nothing was sent: a busy process had closed the connection to even them out, and now nothing listens.
          if (!isClosed || !isTold) throw error;
        });
        if (!response) return;
        const { status, body, headers } = response;
        running.add(client);
        assert.deepEqual([status, body], [200, 'ran']);
        isClosed = headers.connection === 'close';
        if (isClosed && isTold) return;
      }
    });
    await until('each client has had a run, and has another one in progress', () => running.size === 6);
    isTold = true;
    command.kill('SIGTERM');
    await Promise.all(load);
    const { status, err } = await command.done();
    assert.deepEqual([status, err], [0, '']);
    // Each line is JSON, or `logged` throws.
    const pids = new Set(command.logged().map(({ pid }) => pid));
    assert.equal(pids.size, 4, 'the first process, the two that answered and the one that took a place');
    assert.equal(command.logged().at(-1)?.msg, 'The service has ended.');
  });
});

/** Waits until no process of the node takes a connection. */
const untilRefused = (connect: () => Connection) =>
  until('connections are refused', () =>
    connect()
      .send('GET', '/healthz')
      .then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
  );

test('a node goes on where a process ends while another starts, and ends with its first process', async (t) => {
  const { command, connect, connectToBoth } = await start(t, { DRAIN_SECONDS: '600' });
  const { clients } = await connectToBoth();
  const { pid: first } = await command.line(({ msg }) => msg.startsWith('The plugin service is at'));
  for (const process of clients.keys()) kill(process, 'SIGKILL');
  let starting: number[] = [];
  await until('both are replaced', async () => {
    starting = (await childrenOf(Number(first))).filter((process) => !clients.has(process));
    return starting.length === 2;
  });
  const [ended = assert.fail(), other = assert.fail()] = starting;
  // It cannot come up before the node has seen the end.
  kill(other, 'SIGSTOP');
  kill(ended, 'SIGKILL');
  await command.line(
    ({ msg, process }) =>
      msg === 'A process of the node could not be started.' ||
      // On a busy machine it may have been up.
      (msg.startsWith('A process of the node has ended.') && process === ended),
  );
  kill(other, 'SIGCONT');
  const isAnswering = () =>
    connect()
      .send('GET', '/healthz')
      .then(
        () => true,
        () => false,
      );
  const end = command.done();
  const early = end.then(({ err }) => assert.fail(`The node has ended: ${err}`));
  early.catch(() => {});
  await Promise.race([until('the other answers', isAnswering), early]);

  command.kill('SIGKILL');
  assert.equal((await end).status, null);
  await untilRefused(connect);
});

/** In the second process of a node: stops it when it starts, and again when it is about to listen. */
const stopSecond = `
  import cluster from 'node:cluster';
  import { Server } from 'node:net';
  if (cluster.worker?.id === 2) {
    const { listen } = Server.prototype;
    Server.prototype.listen = function (...args) {
      Server.prototype.listen = listen;
      process.kill(process.pid, 'SIGSTOP');
      return this.listen(...args);
    };
    process.kill(process.pid, 'SIGSTOP');
  }`;

test('a node listens once all of its processes can answer, and SIGTERM then fails no run', async (t) => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const options = `--import=data:text/javascript,${encodeURIComponent(stopSecond)}`;
  const env = {
    SERVICE_PORT: String(port),
    DRAIN_SECONDS: '1',
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${options}`,
  };
  let second = NaN;
  const node = await start(t, env, async ({ pid }) => {
    await until('the second process has stopped', async () => {
      [second = NaN] = await childrenOf(pid, 'T');
      return !Number.isNaN(second);
    });
    t.after(() => {
      if (!Number.isNaN(second)) kill(second, 'SIGKILL');
    });
    await assert.rejects(fetch(`${base}/healthz`), ({ cause }) => cause.code === 'ECONNREFUSED');
    kill(second, 'SIGCONT');
    await until('the first process answers', () =>
      fetch(`${base}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    // Else it would stop after it is told to go on.
    await until('the second process has stopped again', async () =>
      (await childrenOf(pid, 'T')).includes(second),
    );
    return { base, metricsPort: NaN };
  });
  const { command, connect, run, deployBy } = node;
  const client = connect();
  await deployBy(
    client,
    `export const run = () => { const end = Date.now() + 300; while (Date.now() < end); return 'ran'; };`,
  );
  const running = run(client);
  command.kill('SIGTERM');
  assert.equal((await running).body, 'ran');
  kill(second, 'SIGCONT');
  const { status, err } = await command.done();
  second = NaN;
  assert.deepEqual([status, err], [0, '']);
  assert.equal(command.logged().at(-1)?.msg, 'The service has ended.');
});

/** The processes that a process has started. `state`: those in this state, as `ps` says it (default: all). */
async function childrenOf(parent: number, state = ''): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-e', '-o', 'pid=,ppid=,stat=']);
  const processes = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return processes.flatMap(([pid, ppid, stat]) =>
    Number(ppid) === parent && stat?.startsWith(state) ? [Number(pid)] : [],
  );
}

test('a second signal ends all processes at once', async (t) => {
  const { command, connect } = await start(t, { DRAIN_SECONDS: '600' });
  command.kill('SIGTERM');
  await command.line(({ msg }) => msg.startsWith('The service ends'));
  command.kill('SIGTERM');
  assert.equal((await command.done()).status, 128 + 15);
  await untilRefused(connect);
});

test('a mistake that the first process finds ends the start with one line', async (t) => {
  const address = await databaseWithSchema(t, 'postgres');
  const absent = address.engine === 'postgres' ? address.url.replace(/[^/]+$/, 'nowhere') : '';
  const command = runCommand(t, undefined, ['serve'], { DATABASE_URL: absent, PROCESSES: '2' });
  const { status, out, err } = await command.done();
  assert.deepEqual([status, out], [1, '']);
  assert.match(err, /^The database postgres:.*cannot be used: .*\n$/);
});
