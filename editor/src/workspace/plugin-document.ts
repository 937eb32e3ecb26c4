import type { PluginSource } from 'plugin-editor/client.js';
import { CodeEditor } from '../code/code-editor.ts';
import type { Problem } from '../code/problems.ts';
import { texts } from '../locales/locale.ts';
import type { TestStatus } from '../pipeline/work.ts';
import { sourceKeyOf, withEdits } from '../plugin/source.ts';
import { TestList } from '../tests/test-list.ts';
import { LEAVING_HINT } from './workspace-view.ts';

export interface PluginDocumentOptions {
  /** The name of the plugin. */
  name: string;
  source: PluginSource;
  isReadOnly: boolean;
  /** The text or the tests were changed. */
  onEdit: () => void;
  /** The problems in the text, or the place of the cursor, changed. */
  onChange: () => void;
}

/** The source of an open plugin as the user edits it: the text, the tests, and the fields that the editor does not know. */
export class PluginDocument {
  readonly editor: CodeEditor;
  readonly tests: TestList;
  readonly #options: PluginDocumentOptions;
  #record: PluginSource;
  #problems: readonly Problem[] = [];
  #cursor = { line: 1, column: 1 };
  /** Text and tests are being replaced together, so that neither is an edit of its own. */
  #isReplacing = false;

  constructor(options: PluginDocumentOptions) {
    const { name, source, isReadOnly, onChange } = options;
    this.#options = options;
    this.#record = source;
    this.tests = new TestList(() => this.#handleEdit());
    this.tests.tests = source.tests ?? [];
    this.editor = new CodeEditor({
      contents: source.contents,
      lang: source.lang,
      label: () => texts().frame.sourceOf(name),
      describedBy: LEAVING_HINT,
      isReadOnly,
      onChange: () => this.#handleEdit(),
      onCursor: (line, column) => {
        this.#cursor = { line, column };
        onChange();
      },
      onProblems: (problems) => {
        this.#problems = problems;
        onChange();
      },
    });
  }

  get source(): PluginSource {
    return withEdits(this.#record, this.editor.contents, this.tests.tests);
  }

  /** Identifies the text as it is. */
  get sourceKey(): string {
    return sourceKeyOf(this.source);
  }

  get language(): string {
    return this.#record.lang;
  }

  /** The problems that are marked in the text. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** How many of the problems are errors. */
  get errors(): number {
    return this.#problems.filter(({ severity }) => severity === 'error').length;
  }

  /** Where the cursor is, counted from 1. */
  get cursor(): { line: number; column: number } {
    return this.#cursor;
  }

  /** How far each test is. */
  get testStatuses(): TestStatus[] {
    const { sourceKey } = this;
    return this.tests.entries.map((entry) => this.tests.statusOf(entry, sourceKey));
  }

  /** Puts another source in place of this one; for its text, undo brings this one back. */
  replace(source: PluginSource): void {
    this.#isReplacing = true;
    this.#record = source;
    this.editor.replace(source.contents, source.lang);
    this.tests.tests = source.tests ?? [];
    this.#isReplacing = false;
    this.#handleEdit();
  }

  #handleEdit(): void {
    if (!this.#isReplacing) this.#options.onEdit();
  }
}
