import type { MetricsSnapshot } from '../operations/metrics.ts';
import type { Settings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';
import type { Change } from '../storage/changes/change-log.ts';
import type { NodeShare } from '../node-share.ts';

/** What the primary asks of a worker. */
export interface WorkerCalls {
  /** Answer requests. Rejects with a `StartError` when a setting cannot be used. */
  start(options: WorkerStart): Promise<void>;
  /** Say what there was to do since the last call. The answer shows that the event loop turns. */
  pulse(): Promise<Pulse>;
  /** Close this many connections, each after its next response. */
  giveUp(connections: number): Promise<void>;
  metrics(): Promise<MetricsSnapshot>;
  /** Know of these changes, which another process has committed. */
  changes(changes: readonly Change[]): Promise<void>;
  /** End, after a drain or at once. The process exits before this resolves. */
  end(how: 'drain' | 'close'): Promise<void>;
}

/** What a worker asks of the primary. */
export interface PrimaryCalls {
  /** Tell the other workers of these changes, and resolve once they know. */
  changes(changes: readonly Change[]): Promise<void>;
  /** This worker can answer requests now. Resolves when it may listen. */
  prepared(): Promise<void>;
}

/** What a process has had to do for a while. */
export interface Pulse {
  /** How many of its connections have had requests. */
  readonly connections: number;
  /** The part of the time in which its event loop was busy, from 0 to 1. */
  readonly utilization: number;
}

export interface WorkerStart {
  readonly settings: Settings;
  readonly share: NodeShare;
  readonly port: number;
  /** Whether to say in the log what is missing. */
  readonly warns: boolean;
}

/** One side of the connection between two processes. */
interface Peer {
  send?(message: object, callback: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
}

type Message =
  | { readonly id: number; readonly call: string; readonly args: readonly unknown[] }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: unknown };

/** The other process ended, or ends, so that it does not answer any more. */
class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';
}

type Methods<Calls> = { [Name in keyof Calls]: (...args: never[]) => Promise<unknown> };

/** Calls functions of another process by messages, and answers its calls. */
export class Channel<Theirs extends Methods<Theirs>, Ours extends Methods<Ours>> {
  readonly #peer: Peer;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor(peer: Peer, ours: Ours) {
    this.#peer = peer;
    peer.on('message', (message) => this.#receive(message as Message, ours));
    peer.on('disconnect', () => this.#end());
  }

  /** Calls a function. Rejects as that does, and with a {@link DisconnectedError} when the other process ends before it answers. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): ReturnType<Theirs[Name]> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#calls.set(id, answer);
    this.#send({ id, call: name, args });
    return answer.promise as ReturnType<Theirs[Name]>;
  }

  #receive(message: Message, ours: Ours): void {
    if ('call' in message) return void this.#answer(message.id, message.call, message.args, ours);
    const answer = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if ('error' in message) answer?.reject(received(message.error));
    else answer?.resolve(message.result);
  }

  async #answer(id: number, name: string, args: readonly unknown[], ours: Ours): Promise<void> {
    try {
      this.#send({ id, result: await ours[name as keyof Ours](...(args as never[])) });
    } catch (error) {
      this.#send({ id, error: sent(error) });
    }
  }

  #send(message: Message): void {
    // `disconnect` follows where this fails.
    this.#peer.send?.(message, (error) => {
      if (error) this.#end();
    });
  }

  #end(): void {
    for (const { reject } of this.#calls.values()) reject(new DisconnectedError('The process has ended.'));
    this.#calls.clear();
  }
}

/** The class of an error does not survive the way to another process. */
const sent = (error: unknown) => (error instanceof StartError ? { startError: error.message } : { error });

const received = (error: unknown): unknown => {
  const { startError, error: other } = error as { startError?: string; error?: unknown };
  return startError === undefined ? other : new StartError(startError);
};
