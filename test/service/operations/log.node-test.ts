import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { closeToolProcesses, createToolProcesses } from '../../../service/src/http/create-service.ts';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { BufferedOutput, createLog } from '../../../service/src/operations/log.ts';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import { RunnerProcess } from '../../../service/src/sandbox/runner-process.ts';
import { toBlockList } from '../../../service/src/settings/setting-kinds.ts';
import { accessPath, bearer, draftPath, listen, source } from '../harness.ts';
import { engineUnderTest, freshDatabase, openDuring } from '../storage/databases.ts';
import { build, deploy } from '../storage/plugins.ts';
import { until } from '../../support/until.ts';

interface Line {
  readonly [field: string]: unknown;
}

/** A service on a real socket, and what it logs. */
async function listenAndLog(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const text: string[] = [];
  const log = createLog('info', (line) => text.push(line));
  const running = await listen(t, { log, trustedProxies: toBlockList(['127.0.0.1']), ...options });
  const lines = () => text.map((line) => JSON.parse(line) as Line);
  /** The line of the request that was answered with this id. */
  const lineOf = async (id: unknown) => {
    await until('the request is logged', () => lines().some(({ requestId }) => requestId === id));
    return lines().find(({ requestId }) => requestId === id) ?? {};
  };
  return { ...running, text, lines, lineOf };
}

const uuidV7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('every response has an id that the service made, and an error repeats it', async (t) => {
  const { send } = await listenAndLog(t);
  const ids = new Set<unknown>();
  for (const [method, path, headers] of [
    ['GET', '/api/v1/features', {}],
    ['GET', '/api/v1/features', { 'x-request-id': 'mine' }],
    ['GET', '/nowhere', {}],
    ['DELETE', '/api/v1/features', {}],
    ['GET', accessPath, {}],
    ['GET', '/api/v1/%ff', {}],
    ['GET', '/api/v1/features', { host: 'evil.example' }],
    ['GET', '/api/v1/features', { host: 'a b' }],
    ['GET', '/healthz', {}],
    ['OPTIONS', '/api/v1/features', { origin: 'https://a.example', 'access-control-request-method': 'GET' }],
  ] as [string, string, Record<string, string>][]) {
    const { status, headers: answered, body } = await send(method, path, headers);
    const id = answered['x-request-id'];
    assert.match(String(id), uuidV7, `${method} ${path}`);
    ids.add(id);
    if (status < 400) continue;
    const { error } = JSON.parse(body) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(error), ['code', 'message', 'requestId']);
    assert.equal(error['requestId'], id);
  }
  assert.equal(ids.size, 10);
});

test('the line of a request that was refused has the code of the error', async (t) => {
  const { send, lineOf, lines, port } = await listenAndLog(t);
  const refused = await send('GET', '/nowhere');
  assert.equal((await lineOf(refused.headers['x-request-id']))['errorCode'], 'not-found');
  const answered = await send('GET', '/api/v1/features');
  assert.ok(!('errorCode' in (await lineOf(answered.headers['x-request-id']))));
  connect(port, '127.0.0.1').end('no request\r\n\r\n').resume();
  await until('what is no request is logged', () => lines().some(({ status }) => status === 400));
  assert.equal(lines().find(({ status }) => status === 400)?.['errorCode'], 'invalid-request');

  const storage = await openDuring(t, await freshDatabase(t, engineUnderTest()), { autoMigrate: false });
  const unready = await listenAndLog(t, { storage });
  const unavailable = await unready.send('GET', '/api/v1/features');
  assert.equal(unavailable.status, 503);
  const line = await unready.lineOf(unavailable.headers['x-request-id']);
  assert.equal(line['errorCode'], 'storage-unavailable');
});

test('a request is one line, which names its environment, tenant and route, and holds no secret', async (t) => {
  const { send, environmentToken, editorToken, text, lines, lineOf } = await listenAndLog(t);
  const environment = await environmentToken();
  const access = await send('GET', `${accessPath}?secret=query-text`, {
    ...bearer(environment),
    'x-request-id': `from the client${'x'.repeat(300)}`,
    'x-forwarded-for': '203.0.113.9',
  });
  const { time, pid, hostname, ms, clientRequestId, ...line } = await lineOf(access.headers['x-request-id']);
  assert.ok(!Number.isNaN(Date.parse(String(time))) && pid === process.pid && hostname);
  assert.ok(typeof ms === 'number' && ms > 0);
  assert.equal(clientRequestId, `from the client${'x'.repeat(185)}`);
  assert.deepEqual(line, {
    level: 'info',
    msg: 'request',
    requestId: access.headers['x-request-id'],
    method: 'GET',
    route: '/auth/v2/access/:identifier/:namespace/:ext',
    status: 200,
    address: '203.0.113.9',
    environment: 'com.acme',
    tenant: 't1',
    holder: 'demo',
  });

  const token = await editorToken(`${accessPath}?actor=ada`, environment);
  const record = JSON.stringify({ ...source, contents: 'source-text' });
  const headers = { ...bearer(token), 'content-type': 'application/json' };
  const saved = await send('POST', draftPath, headers, record);
  const savedLine = await lineOf(saved.headers['x-request-id']);
  assert.deepEqual([savedLine['tenant'], savedLine['actor']], ['t1', 'ada']);
  assert.equal(lines().length, 3);
  for (const secret of [environment, token, 'query-text', 'source-text']) {
    assert.ok(!text.join('').includes(secret), secret);
  }
});

test('the trace of a request is logged, unless its header is invalid', async (t) => {
  const { send, lineOf } = await listenAndLog(t);
  const id = '4bf92f3577b34da6a3ce929d0e0e4736';
  const trace = `00-${id}-00f067aa0ba902b7-01`;
  for (const [traceparent, logged] of [
    [trace, trace],
    [`cc-${id}-00f067aa0ba902b7-00`, `cc-${id}-00f067aa0ba902b7-00`],
    [`ff-${id}-00f067aa0ba902b7-01`, undefined],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${id}-${'0'.repeat(16)}-01`, undefined],
    [trace.toUpperCase(), undefined],
    [`${trace}-more`, undefined],
    ['', undefined],
  ]) {
    const { headers } = await send('GET', '/api/v1/features', { traceparent: String(traceparent) });
    assert.equal((await lineOf(headers['x-request-id']))['traceparent'], logged, traceparent);
  }
});

test('an execution is logged with the id of its run, its version and its time, also when it fails', async (t) => {
  const { send, environmentToken, lineOf, storage, text } = await listenAndLog(t);
  const environment = await environmentToken();
  const key = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
  const plugin = 'com.acme.t1/default/add-record';
  const code =
    'export const run = (input) => { if (input === "input-text") throw new Error("no"); return "output-text"; };';
  for (const contents of [code, `${code}\n`]) {
    await build(storage, contents, key);
    await deploy(storage, contents, key);
  }
  for (const [path, input, status, version] of [
    [`/exec/name/${plugin}`, 'x', 200, 'v1.0.1'],
    [`/exec/name/${plugin}`, 'input-text', 422, 'v1.0.1'],
    [`/exec/${plugin}/v1.0.0`, 'x', 200, 'v1.0.0'],
    [`/exec/${plugin}/v1.0.9`, 'x', 404, undefined],
  ] as const) {
    const response = await send('POST', path, bearer(environment), input);
    assert.equal(response.status, status, response.body);
    const id = response.headers['x-request-id'];
    assert.equal(response.headers['x-suborbital-requestid'], id);
    assert.equal(response.headers['x-plugin-version'], version);
    if (version) assert.match(String(response.headers['server-timing']), /^run;dur=\d+\.\d$/);
    assert.equal((await lineOf(id))['holder'], 'demo');
  }
  for (const secret of ['input-text', 'output-text']) assert.ok(!text.join('').includes(secret), secret);
});

test('a fault is logged with its stack, under the id that the client received', async (t) => {
  const text: string[] = [];
  const log = createLog('info', (line) => text.push(line));
  // Without the harness's own listener, which takes faults instead of the log.
  const { send, storage } = await listen(t, { log, onError: undefined as never });
  await storage.close();
  const response = await send('GET', draftPath, bearer(`pe_edit_${'A'.repeat(43)}`));
  assert.equal(response.status, 500);
  const fault = text.map((line) => JSON.parse(line) as Line).find(({ level }) => level === 'error');
  assert.equal(fault?.['requestId'], response.headers['x-request-id']);
  assert.match(JSON.stringify(fault?.['err']), /"stack":".*\\n +at /);
});

test('a crash of a runner is logged with how it ended, and whose run was in it', async (t) => {
  const text: string[] = [];
  const log = createLog('info', (line) => text.push(line));
  const processes = createToolProcesses(new Map(), { log });
  t.after(() => closeToolProcesses(processes));
  const crashed = { code: 'runner-crashed', message: 'It ended (SIGSEGV).' } as const;
  t.mock.method(RunnerProcess.prototype, 'take', () => Promise.resolve({ error: crashed, isLost: true }));
  const program = loadedProgram({ kind: 'script', code: '', file: 'a.js' });
  const owner = { environment: 'com.acme', tenant: 't1', token: '' };
  await processes.sandbox.run({ program, input: 'input-text', owner });
  assert.deepEqual(
    text.map((line) => JSON.parse(line) as Line).map(({ level, reason, tenant }) => [level, reason, tenant]),
    [['warn', crashed.message, 't1']],
  );
});

test('of an error from the database its kind is logged, but not the rows that it quotes', () => {
  const text: string[] = [];
  const error = Object.assign(new Error('no', { cause: new Error('why') }), {
    code: '23505',
    detail: 'Key (secret)',
  });
  createLog('info', (line) => text.push(line)).error({ err: error }, 'failed');
  const { err } = JSON.parse(text.join('')) as { err: Line };
  assert.deepEqual([err['type'], err['message'], err['code']], ['Error', 'no', '23505']);
  assert.equal((err['cause'] as Line)['message'], 'why');
  assert.ok(!text.join('').includes('secret'));
});

for (const [what, code] of [
  ['a process that exits', `log.info('first'); process.exit(0)`],
  ['a process that an error ends', `log.info('first'); throw new Error('The end.')`],
  [
    'a process that is killed after a warning',
    `log.info('first'); log.warn('last'); process.kill(process.pid, 'SIGKILL')`,
  ],
] as const) {
  test(`${what} has written all lines`, async () => {
    const module = import.meta.resolve('../../../service/src/operations/log.ts');
    const script = `import { createLog } from ${JSON.stringify(module)}; const log = createLog('info'); ${code}`;
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['--input-type=module', '--eval', script], (_, stdout) => resolve(stdout));
    });
    assert.match(output, /"msg":"first"/);
    assert.equal(/"msg":"last"/.test(output), code.includes('last'));
  });
}

test('lines that cannot be written are kept up to 1 MiB, and those that are lost are counted', () => {
  const reported: string[] = [];
  let written = '';
  let room = 3;
  const output = new BufferedOutput(
    (bytes) => {
      if (!room) throw new Error('ENOSPC: no space left on device, write');
      const some = bytes.subarray(0, room);
      room -= some.length;
      written += some.toString();
      return some.length;
    },
    (message) => reported.push(message),
  );
  const line = `${'x'.repeat(1023)}\n`;
  for (let i = 0; i < 1030; i += 1) output.write(line);
  assert.equal(written, 'xxx');
  const failing =
    'Log lines may be lost, because standard output cannot be written to: ENOSPC: no space left on device, write';
  assert.deepEqual(reported, [failing]);
  room = Infinity;
  output.flush();
  output.write('the next\n');
  output.writeLast();
  assert.equal(written, `${line.repeat(1024)}the next\n`);
  assert.deepEqual(reported, [failing, 'Standard output can be written to again. 6 log lines were lost.']);
});

test('a pipe that is full is tried again, also when the process exits, and that is not reported', () => {
  let written = '';
  let tries = 0;
  const output = new BufferedOutput(
    (bytes) => {
      tries += 1;
      if (tries % 3) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
      written += bytes.toString();
      return bytes.length;
    },
    (message) => assert.fail(message),
  );
  output.write('first\n');
  output.flush();
  output.write('last\n');
  output.writeLast();
  assert.equal(written, 'first\nlast\n');
});

for (const [what, open] of [
  ['a full disk', () => openSync('/dev/full', 'w')],
  ['a pipe whose reader has ended', () => 'pipe' as const],
] as const) {
  test(
    `a process whose log goes to ${what} goes on, says so once and exits`,
    { skip: process.platform !== 'linux' && 'needs /dev/full' },
    async () => {
      const module = import.meta.resolve('../../../service/src/operations/log.ts');
      const script = `
        import { createLog } from ${JSON.stringify(module)};
        const log = createLog('info');
        process.once('message', () => {
          for (let i = 0; i < 3; i += 1) log.warn('a line');
          process.send('alive', () => process.exit());
        });`;
      const stdout = open();
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', stdout, 'pipe', 'ipc'],
      });
      if (typeof stdout === 'number') closeSync(stdout);
      child.stdout?.destroy();
      let err = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
      const alive = once(child, 'message');
      const closed = once(child, 'close');
      child.send('begin');
      assert.deepEqual(await Promise.race([alive, closed]), ['alive', undefined]);
      assert.deepEqual(await closed, [0, null]);
      assert.match(err, /^Log lines may be lost, because [^\n]+: (?:ENOSPC|EPIPE): [^\n]+\n$/);
    },
  );
}
