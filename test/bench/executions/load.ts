import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Requests to send by POST, each as soon as the response to the one before it is there. */
export interface Load {
  port: number;
  /** Sent as a bearer token. */
  token: string;
  /** How many send at once. With more than one there can be only one entry in `requests`. */
  connections: number;
  /** Sent in this order, over and over. */
  requests: readonly LoadRequest[];
  /** When to end. */
  until: { seconds: number } | { responses: number };
}

export interface LoadRequest {
  path: string;
  body: string;
  /** The body that the response has to have. */
  expected: string;
}

export interface LoadResult {
  /** How long each good answer took, in ms, in the order of their arrival. */
  latencies: Float64Array;
  /** Good answers per second. */
  rate: number;
  /** How often there was no good answer, by what there was instead: a status, a wrong body, a broken connection. */
  failures: Record<string, number>;
}

/** Sends requests from a separate process, so that it costs the measured ones and the measuring one no time. */
export interface LoadProcess extends Disposable {
  /** Rejects when there was any answer but the expected ones, unless `tolerant`. */
  send(load: Load, options?: { tolerant?: boolean }): Promise<LoadResult>;
}

export function startLoadProcess(): LoadProcess {
  const child = fork(new URL('load-process.ts', import.meta.url), { serialization: 'advanced' });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The process that sends the requests has ended.');
  });
  // Only of interest while something is sent.
  ended.catch(() => {});
  return {
    send: async (load, { tolerant = false } = {}) => {
      child.send(load);
      const [result] = (await Promise.race([once(child, 'message'), ended])) as [LoadResult];
      if (!tolerant && Object.keys(result.failures).length) {
        throw new Error(`Not all answers were as expected: ${JSON.stringify(result.failures)}`);
      }
      return result;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
