import type { Pipeline, Run } from '../pipeline/pipeline.ts';
import type { PayloadRun } from '../tests/run-panel.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import { expectedOf, verdictOf } from '../tests/verdict.ts';

/** What is reported to the page around the editor when a run ended. */
export interface RunReport {
  /** The name of the test; none for a payload that was typed in. */
  name?: string;
  result?: string;
  error?: unknown;
  /** Whether the result is the expected one, where one is expected. */
  passed?: boolean;
}

export interface TestRunsOptions {
  pipeline: Pick<Pipeline, 'action' | 'runTests'>;
  tests: TestList;
  /** Brings a panel into view. */
  showPanel: (panel: 'tests' | 'run') => void;
  /** Brings the result of a test into view. */
  showResult: (entry: TestEntry) => void;
  /** Runs begin; `retry` begins them once more. */
  onBegin: (retry: () => void) => void;
  onRun: (report: RunReport) => void;
  /** Not all could be run. */
  onUnfinished: () => void;
  onChange: () => void;
}

/** Runs the plugin with the payloads of its tests, and with one that is typed in. */
export class TestRuns {
  readonly payload: PayloadRun = { payload: '', isRunning: false };
  readonly #options: TestRunsOptions;
  #progress: { done: number; all: number } | undefined;

  constructor(options: TestRunsOptions) {
    this.#options = options;
  }

  /** While tests run: how many of them have run, and how many are to. */
  get progress(): { done: number; all: number } | undefined {
    return this.#progress;
  }

  /** Runs tests one after the other. Does nothing while another action is under way. */
  async runTests(entries: readonly TestEntry[]): Promise<void> {
    const { pipeline, showPanel, showResult, onBegin, onUnfinished, onChange } = this.#options;
    if (!entries.length || pipeline.action) return;
    onBegin(() => void this.runTests(entries));
    showPanel('tests');
    for (const entry of entries) entry.isWaiting = true;
    this.#progress = { done: 0, all: entries.length };
    const payloads = entries.map(({ test }) => test.payload ?? '');
    const isComplete = await pipeline.runTests(payloads, (index, run) => {
      const entry = entries[index];
      if (!entry) return;
      this.#progress = { done: index + 1, all: entries.length };
      // A user who runs a single test wants to see its result.
      if (entries.length === 1) entry.isOpen = true;
      this.#handleRun(entry, run);
    });
    for (const entry of entries) entry.isWaiting = false;
    this.#progress = undefined;
    if (!isComplete) onUnfinished();
    onChange();
    const [first] = entries;
    if (isComplete && first && entries.length === 1) showResult(first);
  }

  /** Runs the payload that is typed in. Does nothing while another action is under way. */
  async runPayload(): Promise<void> {
    const { pipeline, showPanel, onBegin, onRun, onUnfinished, onChange } = this.#options;
    const { payload: state } = this;
    if (pipeline.action) return;
    onBegin(() => void this.runPayload());
    showPanel('run');
    state.isRunning = true;
    state.obstacle = undefined;
    const isComplete = await pipeline.runTests([state.payload], (_, run) => {
      state.before = state.run;
      state.run = run;
      onRun(outcomeOf(run));
    });
    state.isRunning = false;
    if (!isComplete) onUnfinished();
    onChange();
  }

  #handleRun(entry: TestEntry, run: Run): void {
    const { tests, onRun, onChange } = this.#options;
    if (entry.run) entry.before = entry.run;
    entry.run = run;
    entry.isWaiting = false;
    const expected = expectedOf(entry.test);
    const passed = expected === undefined ? {} : { passed: verdictOf(run.outcome, expected) === 'passed' };
    onRun({ name: tests.titleOf(entry), ...outcomeOf(run), ...passed });
    onChange();
  }
}

const outcomeOf = ({ outcome }: Run): Pick<RunReport, 'result' | 'error'> =>
  'error' in outcome ? { error: outcome.error } : { result: outcome.result };
