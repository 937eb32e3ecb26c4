import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { NodeMetrics } from '../../../service/src/cluster/node-metrics.ts';
import { restartDelay, surplusOf, WholeLines } from '../../../service/src/cluster/node-processes.ts';

describe('the lines of a process', () => {
  for (const [pieces, expected] of [
    [['a\nb\n'], ['a\nb\n']],
    [
      ['a\nb', 'c', 'd\ne'],
      ['a\n', '', 'bcd\n'],
    ],
    // One character in two pieces.
    [
      [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])],
      ['', 'é\n'],
    ],
    [
      ['', '\n'],
      ['', '\n'],
    ],
    // What a process that was killed began to write is not written.
    [['{"half":'], ['']],
  ] as const) {
    test(`are whole: ${JSON.stringify(expected)}`, () => {
      const lines = new WholeLines();
      assert.deepEqual(
        pieces.map((piece) => lines.add(Buffer.from(piece as string))),
        expected,
      );
    });
  }
});

test('a process is replaced at once, and later each time where one after the other ends soon', () => {
  const delays: number[] = [];
  for (const lived of [5, 5, 5, 5, 5, 5, 5, 5, 59_999, 60_000, 5]) {
    delays.push(restartDelay(lived, delays.at(-1)));
  }
  assert.deepEqual(delays, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 0, 1000]);
});

describe('the metrics of a node', () => {
  /** What a process has: requests, how long they took, what waits, and delays of its event loop. */
  async function snapshotOf(counts: { requests: number; took: number[]; waiting: number; lag: number }) {
    const registry = new Registry();
    const common = { help: 'help', registers: [registry] };
    new Counter({ ...common, name: 'requests_total', labelNames: ['status'] }).inc(
      { status: '200' },
      counts.requests,
    );
    const histogram = new Histogram({ ...common, name: 'took_seconds', buckets: [1, 2] });
    for (const took of counts.took) histogram.observe(took);
    new Gauge({ ...common, name: 'waiting' }).set(counts.waiting);
    new Gauge({ ...common, name: 'lag_seconds', aggregator: 'average' }).set(counts.lag);
    return registry.getMetricsAsJSON();
  }

  const busy = { requests: 5, took: [0.5, 1.5], waiting: 3, lag: 0.4 };
  const idle = { requests: 2, took: [1.5], waiting: 1, lag: 0.1 };

  test('add counts and gauges, and have the longest delay', async () => {
    const text = await (
      await new NodeMetrics().toResponse([await snapshotOf(busy), await snapshotOf(idle)])
    ).text();
    for (const line of [
      'requests_total{status="200"} 7',
      'took_seconds_bucket{le="1"} 1',
      'took_seconds_bucket{le="2"} 3',
      'took_seconds_count 3',
      'took_seconds_sum 3.5',
      'waiting 4',
      'lag_seconds 0.4',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
    }
    assert.match(text, /^process_cpu_seconds_total \d/m);
    assert.match(text, /^process_start_time_seconds \d/m);
  });

  test('count on where a process has ended, of which the gauges are gone', async () => {
    const metrics = new NodeMetrics();
    metrics.keep(await snapshotOf(busy));
    metrics.keep(await snapshotOf(idle));
    const text = await (await metrics.toResponse([await snapshotOf(idle)])).text();
    for (const line of [
      'requests_total{status="200"} 9',
      'took_seconds_count 4',
      'waiting 1',
      'lag_seconds 0.1',
    ])
      assert.ok(text.includes(`${line}\n`), `${line} is not in\n${text}`);
  });
});

describe('the connections of processes', () => {
  for (const [connections, expected] of [
    [
      [0, 0],
      [0, 0],
    ],
    [
      [2, 0],
      [0, 0],
    ],
    [
      [3, 0],
      [2, 0],
    ],
    [
      [10, 6],
      [0, 0],
    ],
    [
      [11, 5],
      [3, 0],
    ],
    [
      [140, 100, 60],
      [40, 0, 0],
    ],
    [
      [100, 110, 90],
      [0, 0, 0],
    ],
  ] as const) {
    test(`are given up where they are clearly more than the mean: ${connections.join(', ')}`, () => {
      const pulses = (utilization: number) =>
        connections.map((count) => ({ connections: count, utilization }));
      assert.deepEqual(surplusOf(pulses(0.9)), expected);
      assert.deepEqual(
        surplusOf(pulses(0.4)),
        expected.map(() => 0),
      );
    });
  }
});
