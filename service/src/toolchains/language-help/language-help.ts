import { wholeNode } from '../../node-share.ts';
import { errorMessage } from '../../error-message.ts';
import type { QueueOwner } from '../../processes/fair-queue.ts';
import { queueLimits } from '../process/queue-limits.ts';
import { SupersedingQueue } from '../process/superseding-queue.ts';
import { ProcessPool } from '../../processes/process-pool.ts';
import { textTypes } from '../types/declarations.ts';
import type { CheckedLanguage, PluginTypes } from '../types/declarations.ts';
import { HelpProcess } from './help-process.ts';
import type { HelpOutcome } from './help-protocol.ts';
import type { HelpRequest } from './requests.ts';

export interface QueuedHelp {
  readonly language: CheckedLanguage;
  readonly contents: string;
  readonly request: HelpRequest;
  /** The types of the input and output of `run` (default: text), with their declarations. */
  readonly types?: PluginTypes;
  /** Whose job it is, which determines its turn. */
  readonly owner: QueueOwner;
  /** Names what is edited: a later request of the same share, subject and method supersedes one that is waiting. */
  readonly subject: string;
  /** Withdraws a request that has not begun. One that has begun ends within milliseconds anyway. */
  readonly signal?: AbortSignal;
  /** Called at its turn, before it begins. What it throws refuses the request. */
  readonly onTurn?: (() => void) | undefined;
}

/** The languages that there is help for. */
export const isHelpedLanguage = (language: string): language is CheckedLanguage =>
  language === 'javascript' || language === 'typescript';

/**
 * Help with writing plugins, for editors. It has separate processes and a queue, so that it never waits for builds, and builds
 * never wait for it. The first request starts a process.
 */
export class LanguageHelp {
  readonly #pool: ProcessPool<HelpProcess>;
  readonly #queue: SupersedingQueue;

  /**
   * @param start starts a process
   * @param nodeShare which of the node's processes this is, for the number of requests at once (default: the only one)
   */
  constructor(start = () => new HelpProcess(), nodeShare = wholeNode) {
    this.#pool = new ProcessPool(start);
    this.#queue = new SupersedingQueue(queueLimits(nodeShare, 4, 64));
  }

  /** How many requests wait for their turn. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /**
   * Answers a request. Throws a `BusyError` at once when too many requests are waiting; rejects with the signal's reason when
   * that is aborted, and with a `SupersededError` when a newer request superseded this one while it was waiting.
   */
  help({
    language,
    contents,
    request,
    types = textTypes,
    owner,
    subject,
    signal,
    onTurn,
  }: QueuedHelp): Promise<HelpOutcome> {
    const turn = this.#queue.acquire(owner, [subject, request.method], signal);
    return this.#pool.use(
      turn,
      (process) => {
        // The request may have been aborted while the process came up.
        signal?.throwIfAborted();
        onTurn?.();
        return process.doJob({ language, contents, types, request });
      },
      (error) => {
        const reason = errorMessage(error);
        return { failed: `Language help does not work on this machine: it ${reason}` };
      },
    );
  }

  close(): void {
    this.#pool.close();
  }
}
