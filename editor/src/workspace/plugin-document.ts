import type { PluginSource } from 'plugin-editor/client.js';
import { CodeEditor, type KeptText } from '../code/code-editor.ts';
import { texts } from '../locales/locale.ts';
import type { TestStatus } from '../pipeline/work.ts';
import { Emitter } from '../plugin/emitter.ts';
import { canonicalJson, sourceKeyOf, withEdits } from '../plugin/source.ts';
import { TestList } from '../tests/test-list.ts';
import type { Access } from './access.ts';
import type { PluginSession } from './plugin-session.ts';

/** The id of the text that says how to leave the editor by keyboard. */
export const LEAVING_HINT = 'leaving-hint';

/**
 * The source of an open plugin as the user edits it: the text, the tests, and the fields that the editor does not know.
 * Emits `edit` when the text or the tests were changed, and `language` when it is in another language.
 */
export class PluginDocument extends Emitter<{ edit: void; language: void }> {
  readonly editor: CodeEditor;
  readonly tests = new TestList(() => this.#handleEdit());
  #record: PluginSource;
  /** Text and tests are being replaced together: one edit, not two. */
  #isReplacing = false;

  constructor({ target, screen }: PluginSession, access: Access, source: PluginSource, kept?: KeptText) {
    super();
    this.#record = source;
    this.tests.tests = source.tests ?? [];
    this.editor = new CodeEditor({
      contents: source.contents,
      lang: source.lang,
      kept,
      label: () => texts().frame.sourceOf(target.fn),
      describedBy: LEAVING_HINT,
      isReadOnly: !access.canWrite,
    });
    const { editor, tests } = this;
    editor.on('edit', () => this.#handleEdit());
    editor.on('tests', ({ before, after }) => {
      // Tests that were edited since stay.
      if (canonicalJson(tests.tests) === canonicalJson(before)) tests.tests = after;
    });
    editor.on('state', () => screen.draw());
    access.on('change', () => (editor.isReadOnly = !access.canWrite));
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

  /** How far each test is. */
  get testStatuses(): TestStatus[] {
    const { sourceKey } = this;
    return this.tests.entries.map((entry) => this.tests.statusOf(entry, sourceKey));
  }

  /** Replaces the source; undo in the text brings text and tests back, unless it is in another language now. */
  replace(source: PluginSource): void {
    const isOtherLanguage = source.lang !== this.language;
    this.#isReplacing = true;
    this.#record = source;
    const before = this.tests.tests;
    const after = source.tests ?? [];
    const hasOthers = canonicalJson(before) !== canonicalJson(after);
    this.editor.replace(source.contents, source.lang, hasOthers ? { before, after } : undefined);
    this.tests.tests = after;
    this.#isReplacing = false;
    this.#handleEdit();
    if (isOtherLanguage) this.emit('language');
  }

  #handleEdit(): void {
    if (!this.#isReplacing) this.emit('edit');
  }
}
