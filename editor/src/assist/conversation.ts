import type { BuilderClient, DraftLocation, PluginSource, PluginTest } from 'plugin-editor/client.js';
import type { AssistantQuestion, PluginChannel } from 'plugin-editor/editor.js';
import { outcomeOf } from '../pipeline/pipeline.ts';
import { sentMocks } from '../plugin/mocks.ts';
import { canonicalJson, lineBreakOf, sameWork, withLineFeeds } from '../plugin/source.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import { type Verdict, verdictOf } from '../tests/verdict.ts';
import type { Screen } from '../ui/screen.ts';
import { EndFollower } from './end-follower.ts';
import { type Piece, compose, isPart, linesOf, piecesOf, textOf } from './parts.ts';

/** A question that the work suggests. */
export interface Suggestion {
  label: string;
  ask: () => void;
}

/** The open plugin, as far as the panel asks about it and changes it. */
export interface AssistHost {
  readonly session: {
    readonly client: Pick<BuilderClient, 'checkSource' | 'testSource'>;
    readonly location: DraftLocation;
    readonly host: { assist?: PluginChannel['assist'] };
    readonly screen: Pick<Screen, 'draw'>;
    readonly signal: AbortSignal;
  };
  readonly access: { readonly canWrite: boolean };
  readonly document: {
    readonly source: PluginSource;
    readonly tests: Pick<TestList, 'entries'>;
    /** Replaces the source, as one edit. */
    replace: (source: PluginSource) => void;
  };
  readonly serviceState: { loadFeatures: () => Promise<void> };
  readonly actions: {
    readonly canTest: boolean;
    runTests: (entries: readonly TestEntry[]) => Promise<void>;
  };
  readonly assistance: {
    /** What the author's question is about, as it is now. */
    readonly work: Omit<AssistantQuestion, 'prompt'>;
    readonly suggestions: readonly Suggestion[];
  };
}

/** What is known of a proposal as it is chosen: whether it builds, and how its tests end. */
export type Check =
  | { kind: 'checking' }
  | { kind: 'unable' }
  | { kind: 'problems'; problems: readonly string[] }
  /** `all`: how many tests there are. `isUnable`: the others could not be run. */
  | {
      kind: 'builds';
      ended: readonly { test: PluginTest; verdict: Verdict }[];
      all: number;
      isUnable: boolean;
    };

/** A proposal, with what the author takes of it. */
export interface Proposal {
  /** The source that it changes. */
  asked: PluginSource;
  pieces: readonly Piece[];
  /** The tests as JSON; `undefined` where it proposes none. */
  tests: readonly Piece[] | undefined;
  /** The tests by that JSON. */
  testsByText: ReadonlyMap<string, PluginTest>;
  /** `undefined` where nothing of it is chosen. */
  check: Check | undefined;
  checking: AbortController | undefined;
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

/** How many tests of a proposal are run. */
export const MAX_TESTS = 50;

/** What an author asks the assistant of the page around the editor, and what it answers. */
export class Conversation {
  readonly host: AssistHost;
  exchanges: Exchange[] = [];
  draft = '';
  readonly end = new EndFollower(() => this.isRunning);
  #stop: AbortController | undefined;
  #isDrawAwaited = false;

  constructor(host: AssistHost) {
    this.host = host;
    host.session.signal.addEventListener('abort', () => this.stop());
  }

  get isRunning(): boolean {
    return this.exchanges.at(-1)?.state === 'running';
  }

  /**
   * Asks, and stops the answer that is running. `about`: what the question is about, where that is not all of the work.
   */
  async ask(prompt: string, about: Partial<AssistantQuestion> = {}): Promise<void> {
    if (!prompt.trim()) return;
    this.stop();
    this.end.restart();
    const { session, document, assistance } = this.host;
    const { source: asked } = document;
    const { work } = assistance;
    const exchange: Exchange = { prompt, text: '', proposal: undefined, state: 'running' };
    this.exchanges = [...this.exchanges, exchange].slice(-MAX_EXCHANGES);
    const stop = (this.#stop = new AbortController());
    this.host.session.screen.draw();
    const proposed: Proposed = {};
    try {
      if (!session.host.assist) throw new Error('closed');
      for await (const part of session.host.assist({ ...work, ...about, prompt }, { signal: stop.signal })) {
        if (part.text === undefined && part.source === undefined && part.tests === undefined)
          throw new Error('assistant-invalid');
        if (part.tests && !areTests(part.tests)) throw new Error('assistant-invalid');
        exchange.text += part.text ?? '';
        if (exchange.text.length > MAX_TEXT) throw new Error('assistant-too-long');
        if (part.source !== undefined) proposed.source = part.source;
        if (part.tests) proposed.tests = part.tests;
        this.#drawSoon();
      }
      exchange.state = 'done';
    } catch (error) {
      exchange.state = stop.signal.aborted ? 'stopped' : 'done';
      if (!stop.signal.aborted) exchange.error = error instanceof Error ? error.message : String(error);
    }
    // Only the last one counts of an answer that proposes again and again.
    if (proposed.source !== undefined || proposed.tests) this.#offer(exchange, asked, proposed);
    this.host.session.screen.draw();
  }

  /** Offers a code block of an answer as the source. */
  propose(exchange: Exchange, source: string): void {
    const asked = this.host.document.source;
    // A block ends without the line break of its last line.
    this.#offer(exchange, asked, { source: /[\r\n]$/.test(asked.contents) ? `${source}\n` : source });
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** The author takes a part, or leaves it. */
  choose(proposal: Proposal, part: { isTaken: boolean }, isTaken: boolean): void {
    part.isTaken = isTaken;
    void this.#check(proposal);
  }

  /** Makes the chosen change, as one edit. */
  take(proposal: Proposal): void {
    const before = this.host.document.source;
    const after = { ...before, ...chosenOf(proposal) };
    Object.assign(proposal, { state: 'taken', before, after });
    this.host.document.replace(after);
  }

  leave(proposal: Proposal): void {
    proposal.state = 'left';
    proposal.checking?.abort();
  }

  /** Whether nothing was changed since the proposal was taken. */
  canUndo({ state, after }: Proposal): boolean {
    return state === 'taken' && after !== undefined && sameWork(after, this.host.document.source);
  }

  undo(proposal: Proposal): void {
    if (this.canUndo(proposal) && proposal.before) this.host.document.replace(proposal.before);
  }

  /** Keeps the state of what was taken true: the editor's own undo and redo change it, too. */
  handleEdit(): void {
    const changed = this.exchanges.flatMap(({ proposal }) =>
      proposal?.state === 'taken' || proposal?.state === 'undone' ? [proposal] : [],
    );
    if (!changed.length) return;
    const now = this.host.document.source;
    // Of several with the same change, the newest is the one that the undo history has last.
    const undone = changed.findLast(({ before }) => before && sameWork(before, now));
    const taken = changed.findLast(({ after }) => after && sameWork(after, now));
    if (undone) undone.state = 'undone';
    if (taken) taken.state = 'taken';
  }

  /** Whether the work has changed since a proposal was made for it: then it could undo what the author wrote meanwhile. */
  isOutdated({ asked, tests }: Proposal): boolean {
    const now = this.host.document.source;
    return (
      asked.contents !== now.contents ||
      (tests !== undefined && canonicalJson(asked.tests ?? []) !== canonicalJson(now.tests ?? []))
    );
  }

  #offer(exchange: Exchange, asked: PluginSource, { source: proposed, tests }: Proposed): void {
    const source = proposed && withLineBreaksOf(asked.contents, proposed);
    const known = asked.tests ?? [];
    const asText = (test: PluginTest) => `${JSON.stringify(JSON.parse(canonicalJson(test)), null, 2)}\n`;
    const testsByText = new Map([...known, ...(tests ?? [])].map((test) => [asText(test), test]));
    const nameOf = (text: string) => testsByText.get(text)?.name;
    const lines = linesOf(asked.contents);
    exchange.proposal = {
      asked,
      pieces: source === undefined ? [lines] : piecesOf(lines, linesOf(source)),
      tests: tests && piecesOf(known.map(asText), tests.map(asText), nameOf),
      testsByText,
      check: undefined,
      checking: undefined,
      state: 'offered',
    };
    void this.#check(exchange.proposal);
  }

  /** Builds and tests what is chosen. Another choice begins anew. */
  async #check(proposal: Proposal): Promise<void> {
    proposal.checking?.abort();
    const checking = (proposal.checking = new AbortController());
    const signal = AbortSignal.any([checking.signal, this.host.session.signal]);
    const show = (check: Check | undefined) => {
      if (signal.aborted) return;
      proposal.check = check;
      this.host.session.screen.draw();
    };
    if (!partsOf(proposal).some(({ isTaken }) => isTaken)) return show(undefined);
    show({ kind: 'checking' });
    const source = { ...proposal.asked, ...chosenOf(proposal) };
    try {
      const problems = await this.#errorsOf(source, signal);
      if (problems.length) return show({ kind: 'problems', problems });
    } catch {
      return show({ kind: 'unable' });
    }
    const tests = source.tests ?? [];
    const ended: { test: PluginTest; verdict: Verdict }[] = [];
    const builds = (isUnable = false): Check => ({ kind: 'builds', ended, all: tests.length, isUnable });
    // The service may not have said yet whether it runs plugins.
    await this.host.serviceState.loadFeatures();
    if (!this.host.actions.canTest) return show(builds(true));
    try {
      for (const test of tests.slice(0, MAX_TESTS)) {
        if (signal.aborted) return;
        ended.push({ test, verdict: await this.#verdictOf(source, test, signal) });
      }
    } catch {
      return show(builds(true));
    }
    show(builds());
  }

  /** The errors that a build of a source would find; saves nothing. */
  async #errorsOf({ lang, contents }: PluginSource, signal: AbortSignal): Promise<string[]> {
    const { client, location } = this.host.session;
    const place = { ...location, language: lang };
    const { diagnostics } = await client.checkSource(place, contents.toWellFormed(), { signal });
    return diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  }

  /** Runs a test of a source; saves nothing. */
  async #verdictOf(
    { lang, contents }: PluginSource,
    test: PluginTest,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const { client, location } = this.host.session;
    const place = { ...location, language: lang };
    const payload = (test.payload ?? '').toWellFormed();
    const options = { calls: sentMocks(test['calls']), onBusy: () => {}, signal };
    return verdictOf(
      outcomeOf(await client.testSource(place, contents.toWellFormed(), payload, options)),
      test,
    );
  }

  /** Draws once in a frame, however much text arrives meanwhile. */
  #drawSoon(): void {
    if (this.#isDrawAwaited) return;
    this.#isDrawAwaited = true;
    requestAnimationFrame(() => {
      this.#isDrawAwaited = false;
      this.host.session.screen.draw();
    });
  }
}

/** The last source and the last tests that an answer proposes. */
interface Proposed {
  source?: string;
  tests?: PluginTest[];
}

/** The most tests that a source may have. */
const MOST_TESTS = 5000;

/** Whether records are tests that can be shown: an assistant may give anything. */
const areTests = (records: readonly Record<string, unknown>[]): boolean =>
  records.length <= MOST_TESTS &&
  records.every(({ name, description, payload }) =>
    [name, description, payload].every((text) => text === undefined || typeof text === 'string'),
  );

/** A text with the line breaks of another, because models write `\n`: else each line would differ. */
function withLineBreaksOf(other: string, text: string): string {
  const lineBreak = lineBreakOf(other);
  // Mixed line breaks cannot be told apart.
  return lineBreak ? withLineFeeds(text).replaceAll('\n', lineBreak) : text;
}

/** What can be taken of a proposal. */
export const partsOf = ({ pieces, tests = [] }: Proposal) => [...pieces, ...tests].filter(isPart);

/** The text and the tests with the parts that are taken. */
function chosenOf({ pieces, tests, testsByText }: Proposal): { contents: string; tests?: PluginTest[] } {
  return {
    contents: textOf(compose(pieces)),
    ...(tests && { tests: compose(tests).map((text) => testsByText.get(text) as PluginTest) }),
  };
}
