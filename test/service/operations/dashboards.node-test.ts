import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { errorCodes } from '../../../service/src/http/error-codes.ts';
import { Metrics } from '../../../service/src/operations/metrics.ts';

/* The dashboard and the alert rules under `deploy/`, against what the service exports. */

const read = (path: string) => readFile(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');

/** Labels that Prometheus adds, and the one of a histogram's buckets. */
const addedLabels = ['job', 'instance', 'le'];

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

/** The names of metrics in a text, and the labels that it asks for. */
const namesIn = (text: string): ReadonlySet<string> =>
  new Set(text.match(/\b(?:plugin_service|nodejs|process)_\w+/g));
const labelsIn = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
    ...[...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, */)),
    ...[...text.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, label = '']) => label),
  ]);

let exported: ReadonlySet<string>;
let labels: ReadonlySet<string>;
before(async () => {
  const metrics = new Metrics();
  metrics.collect({
    waiting: () => ({ runs: 0, builds: 0, checks: 0, help: 0, calls: 0 }),
    connections: () => ({ used: 0, idle: 0, waiting: 0 }),
  });
  metrics.observeRequest('GET', '/', 200, 1);
  metrics.observeRun('ok', true, 1);
  metrics.observeBuild('javascript', 'succeeded', { waited: 1, took: 1 });
  const lines = (await (await metrics.toResponse()).text()).split('\n').filter((line) => /^\w/.test(line));
  exported = new Set(lines.map((line) => /^\w+/.exec(line)?.[0] ?? ''));
  labels = new Set([...addedLabels, ...lines.flatMap((line) => [...labelsIn(line)])]);
});

function assertExported(text: string): void {
  const names = namesIn(text);
  assert.ok(names.size > 0, text);
  for (const name of names) assert.ok(exported.has(name), `There is no metric ${name}.`);
  for (const label of labelsIn(text)) assert.ok(labels.has(label), `No metric has the label ${label}.`);
}

test('a metric or a label that the service does not export is found', () => {
  assertExported('sum by (route) (rate(plugin_service_request_duration_seconds_count{status="500"}[5m]))');
  assert.throws(() => assertExported('plugin_service_request_duration_seconds'), /There is no metric/);
  assert.throws(() => assertExported('sum by (tenant) (plugin_service_waiting)'), /the label tenant/);
  assert.throws(() => assertExported('plugin_service_waiting{tenant="t1"}'), /the label tenant/);
});

describe('the alert rules', () => {
  test('use metrics that the service exports', async () =>
    assertExported(await read('prometheus/alerts.yaml')));

  test('name codes of errors that runs have', async () => {
    const codes = [
      ...(await read('prometheus/alerts.yaml')).matchAll(/run_duration_seconds_count\{outcome="([^"]+)/g),
    ];
    assert.ok(codes.length > 0);
    for (const [, code = ''] of codes) assert.ok(code in errorCodes, code);
  });

  test('say what to do', async () => {
    const summaries = [...(await read('prometheus/alerts.yaml')).matchAll(/summary: '(.*)'$/gm)];
    assert.ok(summaries.length > 0);
    for (const [, summary = ''] of summaries) assert.match(summary, /: \S/);
  });

  test('do not fire for a restart of the database, which is over before', async () => {
    const rule = /PluginServiceUnavailable$.*?\[(\d)m\].*?for: (\d)m/ms;
    const [, range, hold] = rule.exec(await read('prometheus/alerts.yaml')) ?? [];
    assert.ok(Number(hold) - Number(range) >= 2);
  });

  test('are for the job that the settings of Prometheus name', async () => {
    const [, job] = /job_name: (\S+)/.exec(await read('prometheus/prometheus.yaml')) ?? [];
    const jobs = [...(await read('prometheus/alerts.yaml')).matchAll(/\bjob="([^"]+)"/g)].map(
      ([, one]) => one,
    );
    assert.deepEqual([...new Set(jobs)], [job]);
  });
});

describe('the dashboard', () => {
  test('uses metrics that the service exports, and shows all of its own', async () => {
    const { panels, templating } = JSON.parse(await read('grafana/dashboard.json')) as Dashboard;
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    const shown = panels.flatMap(({ targets }) =>
      targets.map(({ expr, legendFormat }) => `${expr} ${legendFormat}`),
    );
    for (const text of shown) assertExported(text);
    for (const { query } of templating.list) if (typeof query !== 'string') assertExported(query.query);
    const names = namesIn(shown.join('\n'));
    const series = (name: string) => name.replace(/_(?:bucket|count|sum)$/, '');
    const metrics = new Set([...exported].filter((name) => name.startsWith('plugin_service_')).map(series));
    assert.deepEqual(new Set([...names].map(series).filter((name) => metrics.has(name))), metrics);
  });
});
