import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** How many connections to the database are in use and idle, and how many statements wait for one. */
export interface ConnectionUsage {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Sources of the values that are read when the metrics are requested. */
export interface MetricSources {
  /** How many jobs wait in each queue; `calls`: how many runs wait for their calls. */
  readonly waiting: () => Readonly<Record<'runs' | 'builds' | 'checks' | 'help' | 'calls', number>>;
  /** `undefined` where the database has no pool of connections. */
  readonly connections: () => ConnectionUsage | undefined;
}

/** The values of all metrics of a process. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const runBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const buildBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const waitBuckets = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60];

// Clients can send any method, so unknown ones share one series.
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * The metrics of the service, for Prometheus. No label holds a tenant, a plugin or anything else that users choose, so that the
 * number of series does not grow with the number of customers.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Histogram({
    name: 'plugin_service_request_duration_seconds',
    help: 'Requests by method, route and status, until the response was sent.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers: [this.#registry],
  });
  readonly #runs = new Histogram({
    name: 'plugin_service_run_duration_seconds',
    help: 'Runs by how they ended ("ok" or the code of the error), without waiting.',
    labelNames: ['outcome'],
    buckets: runBuckets,
    registers: [this.#registry],
  });
  readonly #starts = new Counter({
    name: 'plugin_service_run_starts_total',
    help: 'Runs whose runner knew the program already ("warm"), or had to be given it ("cold").',
    labelNames: ['start'],
    registers: [this.#registry],
  });
  readonly #builds = new Histogram({
    name: 'plugin_service_build_duration_seconds',
    help: 'Builds by language and how they ended: "succeeded", "failed" by their source, or "unfinished" by a limit; without waiting.',
    labelNames: ['language', 'outcome'],
    buckets: buildBuckets,
    registers: [this.#registry],
  });
  readonly #buildWaits = new Histogram({
    name: 'plugin_service_build_wait_seconds',
    help: 'How long builds waited for their turn and for a compiler, by language.',
    labelNames: ['language'],
    buckets: waitBuckets,
    registers: [this.#registry],
  });
  readonly #dropped = new Counter({
    name: 'plugin_service_records_dropped_total',
    help: 'Records of runs that could not be stored.',
    registers: [this.#registry],
  });

  readonly #calls = new Counter({
    name: 'plugin_service_calls_total',
    help: 'Requests that plugins made, by how they ended: "ok", "cancelled" with their run, or the code of the error.',
    labelNames: ['outcome'],
    registers: [this.#registry],
  });

  constructor() {
    // Initialized, so that rates can be computed from the start.
    for (const start of ['warm', 'cold']) this.#starts.inc({ start }, 0);
    this.#dropped.inc(0);
    this.#calls.inc({ outcome: 'ok' }, 0);
  }

  observeRequest(method: string, route: string | undefined, status: number, milliseconds: number): void {
    const labels = {
      method: knownMethods.has(method) ? method : 'other',
      route: route ?? 'none',
      status: String(status),
    };
    this.#requests.observe(labels, milliseconds / 1000);
  }

  /** `outcome`: `ok` or the code of the error. */
  observeRun(outcome: string, isWarm: boolean, milliseconds: number): void {
    this.#runs.observe({ outcome }, milliseconds / 1000);
    this.#starts.inc({ start: isWarm ? 'warm' : 'cold' });
  }

  /** Times are in ms. */
  observeBuild(
    language: string,
    outcome: 'succeeded' | 'failed' | 'unfinished',
    { waited, took }: { readonly waited: number; readonly took: number },
  ): void {
    this.#builds.observe({ language, outcome }, took / 1000);
    this.#buildWaits.observe({ language }, waited / 1000);
  }

  /** `outcome`: `ok`, `cancelled` or the code of the error. */
  countCall(outcome: string): void {
    this.#calls.inc({ outcome });
  }

  countDroppedRecords(count: number): void {
    this.#dropped.inc(count);
  }

  /** Adds the metrics that are read on request, including those of the process and the event loop. */
  collect({ waiting, connections }: MetricSources): void {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const addGauge = (name: string, help: string, label: string, read: () => Record<string, number>) =>
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count);
        },
      });
    addGauge('plugin_service_waiting', 'What waits for its turn, by queue.', 'queue', waiting);
    if (!connections()) return;
    const usage = () => connections() ?? { used: 0, idle: 0, waiting: 0 };
    addGauge('plugin_service_database_connections', 'Connections to the database, by state.', 'state', () => {
      const { used, idle } = usage();
      return { used, idle };
    });
    const statements: Gauge = new Gauge({
      name: 'plugin_service_database_waiting',
      help: 'Statements that wait for a connection to the database.',
      registers,
      collect: () => statements.set(usage().waiting),
    });
  }

  /** The present values of all metrics. */
  snapshot(): Promise<MetricsSnapshot> {
    return this.#registry.getMetricsAsJSON();
  }

  /** Makes the response with all metrics, in the format of Prometheus. */
  async toResponse(): Promise<Response> {
    const { contentType } = this.#registry;
    return new Response(await this.#registry.metrics(), { headers: { 'content-type': contentType } });
  }
}
