import { html } from 'lit/html.js';
import type { Conversation } from '../assist/conversation.ts';
import { texts } from '../locales/locale.ts';
import { expectedOf } from '../tests/verdict.ts';
import type { DockPanel } from '../ui/dock.ts';
import { lazyModule } from '../ui/lazy-module.ts';
import type { Workspace } from './workspace.ts';

const panel = lazyModule(() => import('../assist/assist-panel.ts'));

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
    return { id: 'assist', label: texts().assist.title, content: () => this.#content() };
  }

  #content(): unknown {
    const { session, dock } = this.#workspace;
    if (!dock.isInView('assist')) return '';
    const module = panel.loaded();
    if (!module) {
      void session.notices.notifyIfMissing(panel.load().then(() => session.screen.draw()));
      return html`<p class="panel-hint">${texts().assist.loading}</p>`;
    }
    this.#conversation ??= module.createConversation(this.#host());
    return module.assistPanel(this.#conversation);
  }

  #host(): Conversation['host'] {
    const { session, document, access, actions, types } = this.#workspace;
    const { client, location, signal, host, screen } = session;
    return {
      ask: (question, options) => {
        if (!host.assist) throw new Error('closed');
        return host.assist(question, options);
      },
      get work() {
        return {
          language: document.language,
          source: document.editor.contents,
          tests: document.tests.tests,
          ...(types.current && { declarations: types.current.declarations }),
          problems: document.problems.map(({ message, severity, line, column }) => ({
            message,
            severity,
            line,
            column,
          })),
          failures: document.tests.entries.flatMap((entry) => {
            const { test, run } = entry;
            const { verdict } = document.tests.statusOf(entry, document.sourceKey);
            if (verdict !== 'failed' || !run) return [];
            const { name, payload } = test;
            const expected = expectedOf(test);
            return {
              ...(name !== undefined && { name }),
              ...(payload !== undefined && { payload }),
              ...(expected !== undefined && { expected }),
              ...('error' in run.outcome ? { error: run.outcome.error } : { result: run.outcome.result }),
            };
          }),
        };
      },
      get canEdit() {
        return access.canWrite;
      },
      get canTest() {
        return actions.canTest;
      },
      signal,
      check: async (contents) => {
        const source = { ...location, language: document.language };
        return (await client.checkSource(source, contents.toWellFormed(), { signal })).diagnostics;
      },
      source: () => document.source,
      replace: (source) => document.replace(source),
      runTests: () => {
        this.#workspace.dock.show('tests');
        void actions.runTests(document.tests.entries);
      },
      draw: () => screen.draw(),
    };
  }
}
