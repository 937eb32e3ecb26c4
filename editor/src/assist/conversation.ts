import type { PluginSource, PluginTest } from 'plugin-editor/client.js';
import type { AssistantQuestion, PluginChannel } from 'plugin-editor/editor.js';
import { type Part, type Piece, compose, isPart, piecesOf } from './parts.ts';

/** What the panel works with. */
export interface AssistHost {
  readonly ask: PluginChannel['assist'];
  /** What the author's question is about, as it is now. */
  readonly work: Omit<AssistantQuestion, 'prompt'>;
  readonly canEdit: boolean;
  /** Whether tests can be run. */
  readonly canTest: boolean;
  readonly signal: AbortSignal;
  /** What a build of a source would find; saves nothing. */
  check: (contents: string) => Promise<readonly { message: string; severity?: string | undefined }[]>;
  /** The source of the plugin as it is edited. */
  source: () => PluginSource;
  /** Replaces it, as one edit. */
  replace: (source: PluginSource) => void;
  runTests: () => void;
  draw: () => void;
}

/** What the check of a proposal said. */
export type Check = 'running' | 'unable' | readonly string[];

/** A proposal, with what the author takes of it. */
export interface Proposal {
  pieces: readonly Piece[];
  tests: { part: Part; tests: PluginTest[] } | undefined;
  check: Check | undefined;
  state: 'offered' | 'taken' | 'left' | 'undone';
  /** The source before and after it was taken. */
  before?: PluginSource;
  after?: PluginSource;
}

export interface Exchange {
  prompt: string;
  text: string;
  proposal: Proposal | undefined;
  state: 'running' | 'done' | 'stopped';
  error?: string;
}

/** How many exchanges are kept, and how long the text of one may be, in UTF-16 code units. */
const MAX_EXCHANGES = 20;
const MAX_TEXT = 1_100_000;

/** What an author asks the assistant of the page around the editor, and what it answers. */
export class Conversation {
  readonly #host: AssistHost;
  exchanges: Exchange[] = [];
  draft = '';
  #stop: AbortController | undefined;
  #isDrawAwaited = false;

  constructor(host: AssistHost) {
    this.#host = host;
    host.signal.addEventListener('abort', () => this.stop());
  }

  get isRunning(): boolean {
    return this.exchanges.at(-1)?.state === 'running';
  }

  get host(): AssistHost {
    return this.#host;
  }

  async ask(prompt: string): Promise<void> {
    if (this.isRunning || !prompt.trim()) return;
    const { work, ask, source } = this.#host;
    const asked = source();
    const exchange: Exchange = { prompt, text: '', proposal: undefined, state: 'running' };
    this.exchanges = [...this.exchanges, exchange].slice(-MAX_EXCHANGES);
    this.draft = '';
    const stop = (this.#stop = new AbortController());
    this.#host.draw();
    try {
      for await (const part of ask({ ...work, prompt }, { signal: stop.signal })) {
        if (part.text === undefined && part.source === undefined && part.tests === undefined)
          throw new Error('assistant-invalid');
        exchange.text += part.text ?? '';
        if (exchange.text.length > MAX_TEXT) throw new Error('assistant-too-long');
        if (part.source !== undefined || part.tests) this.#offer(exchange, asked, part);
        this.#drawSoon();
      }
      exchange.state = 'done';
    } catch (error) {
      exchange.state = stop.signal.aborted ? 'stopped' : 'done';
      if (!stop.signal.aborted) exchange.error = error instanceof Error ? error.message : String(error);
    }
    this.#host.draw();
  }

  /** Offers a code block of an answer as the source. */
  propose(exchange: Exchange, source: string): void {
    this.#offer(exchange, this.#host.source(), { source });
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** The author takes a part, or leaves it. */
  choose(proposal: Proposal, part: Part, isTaken: boolean): void {
    part.isTaken = isTaken;
    void this.#check(proposal);
  }

  /** Makes the chosen change, as one edit. */
  take(proposal: Proposal): void {
    const before = this.#host.source();
    const contents = compose(proposal.pieces);
    const tests = proposal.tests?.part.isTaken ? proposal.tests.tests : before.tests;
    const after = { ...before, contents, ...(tests && { tests }) };
    Object.assign(proposal, { state: 'taken', before, after });
    this.#host.replace(after);
    this.#host.draw();
  }

  leave(proposal: Proposal): void {
    proposal.state = 'left';
    this.#host.draw();
  }

  /** Whether nothing was changed since the proposal was taken. */
  canUndo({ state, after }: Proposal): boolean {
    return state === 'taken' && JSON.stringify(after) === JSON.stringify(this.#host.source());
  }

  undo(proposal: Proposal): void {
    if (!this.canUndo(proposal) || !proposal.before) return;
    this.#host.replace(proposal.before);
    proposal.state = 'undone';
    this.#host.draw();
  }

  /** Whether the text has changed since a proposal was made for it: then it could undo what the author wrote meanwhile. */
  isOutdated({ pieces }: Proposal): boolean {
    const asked = compose(pieces.map((piece) => (isPart(piece) ? { ...piece, isTaken: false } : piece)));
    return asked !== this.#host.source().contents;
  }

  #offer(
    exchange: Exchange,
    asked: PluginSource,
    { source, tests }: { source?: string; tests?: PluginTest[] },
  ) {
    const former = exchange.proposal;
    const show = (list: readonly PluginTest[]) => JSON.stringify(list, null, 2);
    const proposal: Proposal = {
      pieces:
        source === undefined ? (former?.pieces ?? [`${asked.contents}\n`]) : piecesOf(asked.contents, source),
      tests: tests
        ? { part: { before: show(asked.tests ?? []), after: show(tests), isTaken: true }, tests }
        : former?.tests,
      check: undefined,
      state: 'offered',
    };
    exchange.proposal = proposal;
    void this.#check(proposal);
  }

  async #check(proposal: Proposal): Promise<void> {
    proposal.check = undefined;
    if (!proposal.pieces.some(isPart)) return this.#host.draw();
    const contents = compose(proposal.pieces);
    proposal.check = 'running';
    this.#host.draw();
    let check: Check;
    try {
      const found = await this.#host.check(contents);
      check = found.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    } catch {
      check = 'unable';
    }
    // Another choice was made meanwhile.
    if (compose(proposal.pieces) !== contents) return;
    proposal.check = check;
    this.#host.draw();
  }

  /** Draws once in a frame, however much text arrives meanwhile. */
  #drawSoon(): void {
    if (this.#isDrawAwaited) return;
    this.#isDrawAwaited = true;
    requestAnimationFrame(() => {
      this.#isDrawAwaited = false;
      this.#host.draw();
    });
  }
}
