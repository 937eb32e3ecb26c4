import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsSnapshot } from '../operations/metrics.ts';

/** Adds the metrics of the processes of a node. */
export class NodeMetrics {
  /** Of the process that this is in. */
  readonly #own = new Registry();
  /** What processes had counted that have ended: a counter that fell would count as one that began anew. */
  #ended: MetricsSnapshot = [];

  constructor() {
    collectDefaultMetrics({ register: this.#own });
  }

  /** Keeps what a process had counted that has ended, as of its last snapshot. */
  keep(snapshot: MetricsSnapshot): void {
    const counted = snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
    // What `aggregate` makes has its values at hand.
    this.#ended = sum([this.#ended, counted]).getMetricsAsArray() as unknown as MetricsSnapshot;
  }

  /** Makes the response with the metrics of these processes, of this one and of those that have ended. */
  async toResponse(snapshots: readonly MetricsSnapshot[]): Promise<Response> {
    const registry = sum([...snapshots, await this.#own.getMetricsAsJSON(), this.#ended]);
    return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } });
  }
}

/** Adds counters, histograms and gauges; of delays of the event loop it is the longest, and of times of starts the first. */
export const sum = (snapshots: readonly MetricsSnapshot[]): Registry =>
  AggregatorRegistry.aggregate(
    snapshots.map((snapshot) =>
      snapshot.map((metric) => ({ ...metric, aggregator: aggregatorOf(metric.name, metric.aggregator) })),
    ),
  );

/** A delay in one process is not shorter for those that others have not. */
function aggregatorOf(name: string, ofMetric: string): string {
  if (name === 'process_start_time_seconds') return 'min';
  return ofMetric === 'average' ? 'max' : ofMetric;
}
