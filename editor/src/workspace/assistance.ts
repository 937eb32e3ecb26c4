import { html } from 'lit/html.js';
import type { AssistantFailure, AssistantProblem, AssistantQuestion } from 'plugin-editor/editor.js';
import type { Conversation, Suggestion } from '../assist/conversation.ts';
import type { Problem } from '../code/problems.ts';
import { texts } from '../locales/locale.ts';
import type { TestEntry } from '../tests/test-list.ts';
import { expectedOf } from '../tests/verdict.ts';
import type { DockPanel } from '../ui/dock.ts';
import { lazyModule } from '../ui/lazy-module.ts';
import type { Workspace } from './workspace.ts';

type PanelModule = typeof import('../assist/assist-panel.ts');

const panel = lazyModule((): Promise<PanelModule> => import('../assist/assist-panel.ts'));

/** The panel of the assistant that the page around the editor has, where it has one; loaded when it comes into view. */
export class Assistance {
  readonly #workspace: Workspace;
  #conversation: Conversation | undefined;
  #isOffered = false;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Whether the page has an assistant. */
  get isOffered(): boolean {
    return this.#isOffered && !!this.#workspace.session.host.assist;
  }

  set isOffered(isOffered: boolean) {
    this.#isOffered = isOffered;
    if (!isOffered) this.#conversation?.stop();
  }

  dockPanel(): DockPanel {
    return { id: 'assist', label: texts().assist.title, icon: 'talk', content: () => this.#content() };
  }

  /** Asks the assistant to explain a problem. */
  explain(problem: Problem): Promise<void> {
    const prompt = `${texts().assist.explainProblem}: ${problem.message}`;
    return this.#askAbout(prompt, { problems: [toProblem(problem)] });
  }

  /** Asks the assistant to make a failed test pass. */
  passTest(entry: TestEntry): Promise<void> {
    const prompt = `${texts().assist.passTest}: ${this.#workspace.document.tests.titleOf(entry)}`;
    return this.#askAbout(prompt, { failures: this.#failuresOf([entry]) });
  }

  /** Asks the assistant to write a test. */
  writeTest(): Promise<void> {
    return this.#askAbout(texts().assist.writeTest);
  }

  async #askAbout(prompt: string, about: Partial<AssistantQuestion> = {}): Promise<void> {
    const { session, dock } = this.#workspace;
    dock.focus('assist');
    const module = await session.notices.notifyIfMissing(panel.load());
    if (module && !session.signal.aborted) await this.#conversationBy(module).ask(prompt, about);
  }

  #content(): unknown {
    const { session, dock } = this.#workspace;
    if (!dock.isInView('assist')) return '';
    const module = panel.loaded();
    if (!module) {
      void session.notices.notifyIfMissing(panel.load().then(() => session.screen.draw()));
      return html`<p class="panel-hint">${texts().assist.loading}</p>`;
    }
    return module.assistPanel(this.#conversationBy(module));
  }

  #conversationBy(module: PanelModule): Conversation {
    if (this.#conversation) return this.#conversation;
    const conversation = (this.#conversation = new module.Conversation(this.#workspace));
    this.#workspace.document.on('edit', () => conversation.handleEdit());
    return conversation;
  }

  /** The tests that failed with the source as it is. */
  get #failed(): TestEntry[] {
    const { document } = this.#workspace;
    const { tests, sourceKey } = document;
    return tests.entries.filter((entry) => tests.statusOf(entry, sourceKey).verdict === 'failed');
  }

  #failuresOf(entries: readonly TestEntry[]): AssistantFailure[] {
    return entries.flatMap(({ test, run }) => {
      if (!run) return [];
      const { name, payload } = test;
      const expected = expectedOf(test);
      return {
        ...(name !== undefined && { name }),
        ...(payload !== undefined && { payload }),
        ...(expected !== undefined && { expected }),
        ...('error' in run.outcome ? { error: run.outcome.error } : { result: run.outcome.result }),
      };
    });
  }

  /** What the author may want to ask now. */
  get suggestions(): Suggestion[] {
    const { document, access } = this.#workspace;
    const { explainProblem, passTest, writeTest } = texts().assist;
    const [problem] = document.editor.problems;
    const [failed] = this.#failed;
    return [
      ...(problem ? [{ label: explainProblem, ask: () => void this.explain(problem) }] : []),
      ...(failed && access.canWrite ? [{ label: passTest, ask: () => void this.passTest(failed) }] : []),
      ...(!document.tests.entries.length && access.canWrite
        ? [{ label: writeTest, ask: () => void this.writeTest() }]
        : []),
    ];
  }

  /** What a question is about, as it is now. */
  get work(): Omit<AssistantQuestion, 'prompt'> {
    const { document, types } = this.#workspace;
    return {
      language: document.language,
      source: document.editor.contents,
      tests: document.tests.tests,
      ...(types.current && { declarations: types.current.declarations }),
      problems: document.editor.problems.map(toProblem),
      failures: this.#failuresOf(this.#failed),
    };
  }
}

const toProblem = ({ message, severity, line, column }: Problem): AssistantProblem => ({
  message,
  severity,
  line,
  column,
});
