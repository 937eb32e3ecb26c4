import type { CallMock, PluginTest } from 'plugin-editor/client.js';
import { canonicalJson, lineBreakOf } from '../plugin/source.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { Run } from '../pipeline/pipeline.ts';
import type { TestStatus } from '../pipeline/work.ts';
import { verdictOf } from './verdict.ts';

/** The fields of a test that can be edited. */
export type TestField = 'name' | 'description' | 'payload' | 'expected';

/** One test in the list, with its last runs. */
export interface TestEntry {
  /** Stays the same while the list is edited. */
  readonly id: number;
  test: PluginTest;
  /** Its last run, and the one before that. */
  run?: Run;
  before?: Run;
  /** Whether it runs, or is going to. */
  isWaiting: boolean;
  isOpen: boolean;
  /** Whether its inputs are unfolded; until the user decides, they are as long as it has no result. */
  areInputsOpen?: boolean;
}

/** The plugin's tests, in the order in which they are shown and run. */
export class TestList {
  readonly #onChange: () => void;
  #entries: readonly TestEntry[] = [];
  #count = 0;
  /** What was removed, and where it was; the latest is the last. */
  #removed: { entry: TestEntry; index: number }[] = [];

  /** `onChange` is called after a change by the user, not after `tests` was set. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get entries(): readonly TestEntry[] {
    return this.#entries;
  }

  /** What was removed last. */
  get removed(): TestEntry | undefined {
    return this.#removed.at(-1)?.entry;
  }

  get tests(): PluginTest[] {
    return this.#entries.map(({ test }) => test);
  }

  set tests(tests: readonly PluginTest[]) {
    this.#entries = tests.map((test) => this.#entryOf(test));
    this.#removed = [];
  }

  /** The name of a test; one without a name is called by its number. */
  titleOf(entry: TestEntry): string {
    const index = this.#entries.indexOf(entry);
    const { name } = entry.test;
    return name?.trim() || texts().tests.numbered(formatNumber(index + 1));
  }

  add(test: PluginTest = {}): TestEntry {
    const entry = this.#entryOf({ name: this.#freeName(), description: '', payload: '', ...test });
    entry.isOpen = true;
    entry.areInputsOpen = true;
    this.#change([...this.#entries, entry]);
    return entry;
  }

  /** Changes a field; `undefined` removes it. Fields that the editor does not know are kept. */
  edit(entry: TestEntry, field: TestField, value: string | undefined): void {
    const { [field]: former, ...rest } = entry.test;
    // A result must not fold what the user is writing in.
    entry.areInputsOpen = true;
    if (value === undefined) {
      entry.test = rest;
    } else {
      // A form field turns each line break into `\n`; a text that had `\r\n` keeps that.
      const hasCrLf = typeof former === 'string' && lineBreakOf(former) === '\r\n';
      entry.test = { ...entry.test, [field]: hasCrLf ? value.replaceAll('\n', '\r\n') : value };
    }
    this.#onChange();
  }

  /** Replaces the responses to the calls of a test. */
  setMocks(entry: TestEntry, mocks: readonly CallMock[]): void {
    const { calls: _calls, ...rest } = entry.test;
    entry.areInputsOpen = true;
    entry.test = mocks.length ? { ...rest, calls: mocks } : rest;
    this.#onChange();
  }

  /** Makes a result the expected one, with the line breaks that it has, because results are compared to the byte. */
  accept(entry: TestEntry, result: string): void {
    entry.test = { ...entry.test, expected: result };
    this.#onChange();
  }

  /** Moves a test up or down; returns `false` where it is the first or the last already. */
  move(entry: TestEntry, by: -1 | 1): boolean {
    const from = this.#entries.indexOf(entry);
    const to = from + by;
    if (to < 0 || to >= this.#entries.length) return false;
    this.#change(this.#entries.toSpliced(from, 1).toSpliced(to, 0, entry));
    return true;
  }

  remove(entry: TestEntry): void {
    const index = this.#entries.indexOf(entry);
    this.#removed.push({ entry, index });
    this.#change(this.#entries.toSpliced(index, 1));
  }

  /** Puts back what was removed last of what is not back. */
  putBack(): TestEntry | undefined {
    const last = this.#removed.pop();
    if (!last) return undefined;
    const { entry, index } = last;
    this.#change(this.#entries.toSpliced(index, 0, entry));
    return entry;
  }

  /** How a test ended when it ran last. `sourceKey` identifies the present text. */
  statusOf({ run, test }: TestEntry, sourceKey: string): TestStatus {
    if (!run) return { verdict: 'none', isCurrent: true };
    const isCurrent =
      run.sourceKey === sourceKey &&
      !run.isOutdated?.() &&
      run.payload === (test.payload ?? '') &&
      isSame(run.mocks, test['calls']);
    return { verdict: verdictOf(run.outcome, test), isCurrent };
  }

  #change(entries: readonly TestEntry[]): void {
    this.#entries = entries;
    this.#onChange();
  }

  #entryOf(test: PluginTest): TestEntry {
    return { id: ++this.#count, test, isWaiting: false, isOpen: false };
  }

  #freeName(): string {
    const taken = new Set(this.tests.map(({ name }) => name));
    for (let number = this.#entries.length + 1; ; number++) {
      const name = texts().tests.numbered(formatNumber(number));
      if (!taken.has(name)) return name;
    }
  }
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || canonicalJson(a ?? []) === canonicalJson(b ?? []);
