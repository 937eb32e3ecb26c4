import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsSnapshot } from '../operations/metrics.ts';

/** Adds the metrics of the processes of a node. */
export class NodeMetrics {
  /** The metrics of this process. */
  readonly #own = new Registry();
  /** The counts of processes that have ended. Without them a counter would fall, and seem to have begun anew. */
  #ended: MetricsSnapshot = [];

  constructor() {
    collectDefaultMetrics({ register: this.#own });
  }

  /** Keeps the counts of a process that has ended, as of its last snapshot. */
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

/** Adds counters, histograms and gauges, but takes the longest delay of the event loops, and the first time of the starts. */
export const sum = (snapshots: readonly MetricsSnapshot[]): Registry =>
  AggregatorRegistry.aggregate(
    snapshots.map((snapshot) =>
      snapshot.map((metric) => ({ ...metric, aggregator: aggregatorOf(metric.name, metric.aggregator) })),
    ),
  );

/** An average would hide the delay of one process behind the others, which have none. */
function aggregatorOf(name: string, ofMetric: string): string {
  if (name === 'process_start_time_seconds') return 'min';
  return ofMetric === 'average' ? 'max' : ofMetric;
}
