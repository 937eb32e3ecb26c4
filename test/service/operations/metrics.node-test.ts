import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { Hono } from 'hono';
import { observeRequests } from '../../../service/src/http/observe-requests.ts';
import { requestInfo } from '../../../service/src/http/request-info.ts';
import { Metrics } from '../../../service/src/operations/metrics.ts';
import { metricsHandler } from '../../../service/src/operations/metrics-server.ts';
import { accessPath, bearer, draftPath, startService } from '../harness.ts';
import { engineUnderTest } from '../storage/databases.ts';
import { patientLimits } from '../tool-processes.ts';

const address = 'http://localhost/metrics';

test('requests, runs, builds and queues are counted, without labels that users choose', async (t) => {
  const metrics = new Metrics();
  const { fetch, environmentToken, editorToken } = await startService(t, {
    metrics,
    runLimits: patientLimits,
  });
  const environment = await environmentToken();
  const editor = bearer(await editorToken(accessPath, environment));
  const plugin = 'com.acme.t1/default/add-record';
  const post = (path: string, headers: Record<string, string>, body = '') =>
    fetch(path, { method: 'POST', headers, body });
  await post(`/api/v1/build/javascript/${plugin}`, editor, 'not a program');
  await post(
    `/api/v1/build/javascript/${plugin}`,
    editor,
    'export const run = (input) => input.at(0) ?? null;',
  );
  await post(`${draftPath}/promote`, editor);
  for (const input of ['a', 'b', '']) await post(`/exec/name/${plugin}`, bearer(environment), input);
  await fetch('/nowhere/at-all');
  await fetch('/api/v1/features', { method: 'PROPFIND' });

  const response = await metricsHandler(metrics).fetch(new Request(address));
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
  const text = await response.text();
  for (const line of [
    'plugin_service_request_duration_seconds_count{method="POST",route="/exec/name/:identifier/:namespace/:pluginName",status="200"} 2',
    'plugin_service_request_duration_seconds_count{method="POST",route="/exec/name/:identifier/:namespace/:pluginName",status="422"} 1',
    'plugin_service_request_duration_seconds_count{method="GET",route="none",status="404"} 1',
    'plugin_service_request_duration_seconds_count{method="other",route="/api/v1/features",status="405"} 1',
    'plugin_service_run_duration_seconds_count{outcome="ok"} 2',
    'plugin_service_run_duration_seconds_count{outcome="plugin-error"} 1',
    'plugin_service_run_starts_total{start="cold"} 1',
    'plugin_service_run_starts_total{start="warm"} 2',
    'plugin_service_build_duration_seconds_count{language="javascript",outcome="failed"} 1',
    'plugin_service_build_duration_seconds_count{language="javascript",outcome="succeeded"} 1',
    'plugin_service_build_wait_seconds_count{language="javascript"} 2',
    'plugin_service_waiting{queue="runs"} 0',
    'plugin_service_waiting{queue="builds"} 0',
    'plugin_service_waiting{queue="checks"} 0',
    'plugin_service_waiting{queue="help"} 0',
    'plugin_service_waiting{queue="calls"} 0',
    'plugin_service_records_dropped_total 0',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line}\n${text}`);
  }
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
  assert.match(text, /^process_resident_memory_bytes /m);
  assert.equal(
    /^plugin_service_database_connections\{state="idle"\} \d/m.test(text),
    engineUnderTest() === 'postgres',
  );
  for (const chosen of ['com.acme', 't1', 'add-record', 'at-all']) assert.ok(!text.includes(chosen), chosen);
});

test('a request whose client has left counts as 499, and as no failure of the service', async () => {
  const metrics = new Metrics();
  const app = new Hono().use(observeRequests({ metrics })).get('/:code', (c) => {
    requestInfo(c).errorCode = c.req.param('code');
    return c.body(null, 503);
  });
  for (const [code, isSent] of [
    ['cancelled', false],
    // The service ends.
    ['cancelled', true],
    ['busy', false],
  ] as const)
    await app.request(`/${code}`, {}, { outgoing: { closed: true, writableFinished: isSent } });
  const text = await (await metrics.toResponse()).text();
  assert.deepEqual(
    [...text.matchAll(/_duration_seconds_count\{.*status="(\d+)"\} (\d+)/g)].map(([, ...found]) => found),
    [
      ['499', '1'],
      ['503', '2'],
    ],
  );
});

test('the port of the metrics serves nothing else', async () => {
  const { fetch } = metricsHandler(new Metrics());
  assert.equal((await fetch(new Request('http://localhost/'))).status, 404);
  assert.equal((await fetch(new Request(address, { method: 'POST' }))).status, 405);
});

test('metrics are given to known hosts only, so that no page at a name for this machine reads them', async () => {
  const { fetch } = metricsHandler(new Metrics(), ['metrics.internal']);
  const status = async (host: string) => (await fetch(new Request(`http://${host}/metrics`))).status;
  for (const host of [
    '127.0.0.1:9464',
    '[::1]:9464',
    '10.0.0.7',
    'localhost:9464',
    'metrics.internal:9464',
    hostname(),
  ])
    assert.equal(await status(host), 200, host);
  for (const host of ['rebound.example', 'metrics.internal.example', '127.0.0.1.nip.io'])
    assert.equal(await status(host), 421, host);
});
