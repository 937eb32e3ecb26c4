import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../http/listen.ts';
import { writeLogLines } from '../operations/log.ts';
import type { Log } from '../operations/log.ts';
import type { MetricsSnapshot } from '../operations/metrics.ts';
import { describeEnd } from '../processes/isolated-process.ts';
import { moduleUrl } from '../processes/module-url.ts';
import { settingsOfProcess } from '../settings/node-processes.ts';
import type { Settings } from '../settings/settings.ts';
import { longestDrain, serveMetrics } from '../start.ts';
import type { Change } from '../storage/changes/change-log.ts';
import { withTimeout } from '../with-timeout.ts';
import { Channel } from './channel.ts';
import type { PrimaryCalls, Pulse, WorkerCalls } from './channel.ts';
import { NodeMetrics } from './node-metrics.ts';

/** How often each process is asked what it has to do, in ms, and how many questions in a row may stay unanswered. */
const [pulseInterval, maxUnanswered] = [2000, 15];

/**
 * How long the commit of a change waits until a process knows of it, in ms. Then that process has read the change from the database
 * itself, or does not trust what it has cached; see `ChangeFeed`.
 */
const tellTimeout = 1000;

/** How long a process may take to say what it has counted, in ms. */
const metricsTimeout = 1000;

/** How much longer than it should the end of the processes may take before they are killed, in ms. */
const endGrace = 10_000;

/** One of the processes that answer requests. */
interface NodeProcess {
  readonly index: number;
  readonly worker: Worker;
  readonly channel: Channel<WorkerCalls, PrimaryCalls>;
  /** Resolves when it has ended, and all that it has logged is written. */
  readonly closed: Promise<unknown>;
  readonly startedAt: number;
  /** Whether it may have requests, which it has before it is known to be ready. */
  mayListen: boolean;
  isReady: boolean;
  unanswered: number;
  counted: MetricsSnapshot;
}

/**
 * The processes of a node, which answer its requests, seen from one that answers none. They share nothing but the port, and are nodes
 * to the database. This one starts them, and again where one ends; it writes their log, adds their metrics, and passes the news of
 * changes on.
 *
 * Where the system lets several sockets listen at a port (Linux), it spreads the connections over them. Elsewhere this process
 * accepts all connections, and Node hands one over only after the process that got the one before has turned its event loop: a
 * hundred for each of two busy processes take seconds. docs/service/capacity.md has the figures.
 */
export class NodeProcesses {
  readonly port: number;
  /** Rejects when no process answers any more, and none can be started. */
  readonly failed: Promise<never>;
  readonly #settings: Settings;
  readonly #count: number;
  readonly #log: Log;
  readonly #processes = new Set<NodeProcess>();
  readonly #metrics: NodeMetrics | undefined;
  readonly #ending = new AbortController();
  readonly #pulseTimer: NodeJS.Timeout;
  readonly #fail: (reason: unknown) => void;
  /** How long was waited before the present process of each index was started. */
  readonly #delays = new Map<number, number>();
  /** The indices whose process could not be started since one was ready. */
  readonly #failed = new Set<number>();
  #metricsServer: Awaited<ReturnType<typeof serveMetrics>>;

  /**
   * Starts them. Rejects with a `StartError` when a setting cannot be used.
   * @param beforeListening called just before the first of them listens
   */
  static async start(
    settings: Settings,
    count: number,
    log: Log,
    beforeListening: () => void,
  ): Promise<NodeProcesses> {
    const { servicePort, serviceHost } = settings;
    const port = await findFreePort(servicePort, 'SERVICE_PORT', serviceHost);
    const all = new NodeProcesses(settings, count, log, port);
    try {
      await all.#start(beforeListening);
    } catch (error) {
      await all.close();
      throw error;
    }
    return all;
  }

  private constructor(settings: Settings, count: number, log: Log, port: number) {
    this.#settings = settings;
    this.#count = count;
    this.#log = log;
    this.port = port;
    this.#metrics = settings.metricsPort === undefined ? undefined : new NodeMetrics();
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#fail = reject;
    promise.catch(() => {});
    this.#pulseTimer = setInterval(() => void this.#takePulses(), pulseInterval).unref();
    cluster.setupPrimary({
      exec: fileURLToPath(moduleUrl('./worker-main', import.meta.url)),
      args: [],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    // However this process exits. Their own children end with them.
    process.on('exit', () => this.#killAll());
  }

  get metricsPort(): number | undefined {
    return this.#metricsServer?.port;
  }

  /** Ends without failing a request; see `RunningService`. The exit code is 1 where a process did not end by itself. */
  async shutDown(): Promise<void> {
    const { drainSeconds } = this.#settings;
    this.#log.info({ drainSeconds }, 'The service ends: it is not ready any more.');
    await this.#end('drain', longestDrain(this.#settings));
    this.#log.info('The service has ended.');
  }

  /** Accepts no new request; open ones have 2 s to end. */
  close(): Promise<void> {
    return this.#end('close');
  }

  /** @param time how long that takes at the most, in ms */
  async #end(how: 'drain' | 'close', time = 0): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#pulseTimer);
    const timer = setTimeout(() => this.#killAll(), time + endGrace);
    const all = [...this.#processes];
    for (const { mayListen, channel, worker } of all) {
      if (mayListen) channel.call('end', how).catch(() => {});
      else worker.process.kill('SIGKILL');
    }
    await Promise.all(all.map(({ closed }) => closed));
    clearTimeout(timer);
    await this.#metricsServer?.close();
  }

  /**
   * Starts the first before the others: it brings the schema up to date, and finds what is wrong with the settings. None listens before
   * all can, since each has only a part of the node's limits.
   */
  async #start(beforeListening: () => void): Promise<void> {
    const prepared = Array.from({ length: this.#count }, () => Promise.withResolvers<void>());
    const allPrepared = Promise.all(prepared.map(({ promise }) => promise)).then(beforeListening);
    const startProcess = ({ resolve }: PromiseWithResolvers<void>, index: number) =>
      this.#startProcess(index, index === 0, () => {
        resolve();
        return allPrepared;
      });
    const [first, ...others] = prepared as [PromiseWithResolvers<void>, ...PromiseWithResolvers<void>[]];
    const started = startProcess(first, 0);
    await Promise.race([first.promise, started]);
    await Promise.all([started, ...others.map((one, i) => startProcess(one, i + 1))]);
    const metrics = this.#metrics;
    const source = metrics && { toResponse: () => this.#collect(metrics) };
    this.#metricsServer = await serveMetrics(source, this.#settings);
  }

  /** @param onPrepared called when it can answer requests. It listens once that resolves. */
  async #startProcess(index: number, warns = false, onPrepared = () => Promise.resolve()): Promise<void> {
    const worker = cluster.fork();
    const started: NodeProcess = {
      index,
      worker,
      channel: new Channel<WorkerCalls, PrimaryCalls>(worker, {
        changes: (changes) => this.#tellOthers(worker, changes),
        prepared: async () => {
          await onPrepared();
          started.mayListen = true;
        },
      }),
      closed: new Promise((resolve) => worker.process.once('close', resolve)),
      startedAt: performance.now(),
      mayListen: false,
      isReady: false,
      unanswered: 0,
      counted: [],
    };
    this.#processes.add(started);
    const lines = new WholeLines();
    worker.process.stdout?.on('data', (piece: Buffer) => {
      const text = lines.add(piece);
      if (text) writeLogLines(text);
    });
    // The end of a process that a message cannot be sent to is an event, too.
    worker.on('error', () => {});
    worker.on('exit', (code: number | null, signal: NodeJS.Signals | null) =>
      this.#onExit(started, code, signal),
    );
    const share = { index, count: this.#count };
    const settings = settingsOfProcess(this.#settings, share);
    try {
      await started.channel.call('start', { settings, share, port: this.port, warns });
    } catch (error) {
      worker.process.kill('SIGKILL');
      // The system has no memory or no descriptors for it.
      if (worker.process.pid === undefined) this.#processes.delete(started);
      throw error;
    }
    started.isReady = true;
    this.#failed.clear();
  }

  #onExit(ended: NodeProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#processes.delete(ended);
    // One that did not come up is reported by whoever started it.
    if (!ended.isReady) return;
    if (this.#ending.signal.aborted) {
      if (code !== 0) process.exitCode = 1;
      return;
    }
    this.#metrics?.keep(ended.counted);
    const { index, startedAt } = ended;
    this.#log.error(
      { process: ended.worker.process.pid, end: describeEnd(code, signal) },
      'A process of the node has ended. Another takes its place.',
    );
    void this.#replace(index, performance.now() - startedAt);
  }

  /** Starts a process in place of one that has ended, again and again until one comes up. */
  async #replace(index: number, lived: number): Promise<void> {
    const { signal } = this.#ending;
    for (let hasLived = lived; !signal.aborted; hasLived = 0) {
      const delay = restartDelay(hasLived, this.#delays.get(index));
      this.#delays.set(index, delay);
      try {
        await sleep(delay, undefined, { signal });
        await this.#startProcess(index);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#log.error({ err: error }, 'A process of the node could not be started.');
        this.#failed.add(index);
        if (this.#failed.size === this.#count && ![...this.#processes].some(({ isReady }) => isReady))
          return this.#giveUp(error);
      }
    }
  }

  #giveUp(reason: unknown): void {
    void this.close().finally(() => this.#fail(reason));
  }

  /** Ends processes that do not answer, and evens out the connections of the others. */
  async #takePulses(): Promise<void> {
    const asked = [...this.#processes].filter(({ isReady }) => isReady);
    try {
      const pulses = await Promise.all(asked.map((one) => this.#takePulse(one)));
      for (const [i, surplus] of surplusOf(pulses).entries()) {
        if (surplus > 0) await asked[i]?.channel.call('giveUp', surplus);
      }
    } catch {
      // One of them has ended meanwhile.
    }
  }

  async #takePulse(one: NodeProcess): Promise<Pulse> {
    if (one.unanswered >= maxUnanswered) {
      const { process } = one.worker;
      this.#log.error({ process: process.pid }, 'A process of the node does not answer. It is ended.');
      process.kill('SIGKILL');
    }
    one.unanswered += 1;
    const pulse = await one.channel.call('pulse');
    one.unanswered = 0;
    return pulse;
  }

  /** Tells the processes but one of changes. Resolves when they know, have ended, or would not use what they have cached. */
  async #tellOthers(teller: Worker, changes: readonly Change[]): Promise<void> {
    const others = [...this.#processes].filter(({ worker }) => worker !== teller);
    const told = others.map(async ({ mayListen, channel }) => {
      const known = channel.call('changes', changes).catch(() => {});
      // One without requests has nothing cached.
      if (mayListen) await known;
    });
    await withTimeout(Promise.all(told), tellTimeout, () => {});
  }

  async #collect(metrics: NodeMetrics): Promise<Response> {
    await Promise.all(
      [...this.#processes].map(async (one) => {
        const counted = one.channel.call('metrics').catch(() => one.counted);
        one.counted = await withTimeout(counted, metricsTimeout, () => one.counted);
      }),
    );
    return metrics.toResponse(Array.from(this.#processes, ({ counted }) => counted));
  }

  #killAll(): void {
    for (const { worker } of this.#processes) worker.process.kill('SIGKILL');
  }
}

/** A process that lived for at least this long, in ms, has ended by chance, and not because it cannot work. */
const soundAfter = 60_000;

const longestDelay = 30_000;

/**
 * How long to wait before a process is started in place of one that has ended, in ms: at first not at all, and longer each time
 * where one after the other ends soon.
 * @param lived how long the one that has ended lived, in ms
 * @param former the delay before that one; `undefined` for the first
 */
export function restartDelay(lived: number, former: number | undefined): number {
  if (lived >= soundAfter || former === undefined) return 0;
  return Math.min(longestDelay, Math.max(1000, former * 2));
}

/** A process that is less busy answers no sooner with fewer connections. */
const busy = 0.5;

/**
 * How many connections each process should give up. The system spreads them by chance, which is uneven where they are few: a busy
 * process with clearly more than the mean gives up what it has above it.
 */
export function surplusOf(pulses: readonly Pulse[]): number[] {
  const mean = pulses.reduce((sum, { connections }) => sum + connections, 0) / pulses.length;
  return pulses.map(({ connections, utilization }) =>
    utilization > busy && connections > mean + 1 + mean / 8 ? Math.ceil(connections - mean) : 0,
  );
}

const lineBreak = 0x0a;

/** Puts the lines of a stream together again, which come in pieces. */
export class WholeLines {
  #rest: Buffer = Buffer.alloc(0);

  /** Adds a piece, and returns the lines that are whole by now, each with its line break; empty where there are none. */
  add(piece: Buffer): string {
    const end = piece.lastIndexOf(lineBreak) + 1;
    const text = end > 0 ? Buffer.concat([this.#rest, piece.subarray(0, end)]).toString() : '';
    const rest = piece.subarray(end);
    this.#rest = end > 0 ? rest : Buffer.concat([this.#rest, rest]);
    return text;
  }
}
