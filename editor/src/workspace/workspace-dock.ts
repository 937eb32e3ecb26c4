import type { PluginSource, PluginTest } from 'plugin-editor/client.js';
import type { Problem } from '../code/problems.ts';
import type { Work } from '../pipeline/work.ts';
import type { PluginService } from '../service/plugin-service.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import { type DockPanel, type DockState, scrollToTab } from '../ui/dock.ts';
import type { Notices } from '../ui/notices.ts';
import { settings } from '../ui/settings.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import type { Histories } from './histories.ts';
import { type Panels, loadPanels } from './load-panels.ts';
import type { PluginTypes } from './plugin-types.ts';
import { focusInTests } from './test-fields.ts';
import { workspacePanels } from './workspace-panels.ts';

export interface WorkspaceDockOptions {
  service: PluginService;
  actions: Actions;
  tests: TestList;
  notices: Notices;
  access: () => Access;
  language: () => string;
  /** The source as it is in the editor. */
  read: () => PluginSource;
  /** Puts a source in place of the one in the editor, and saves it. */
  restore: (source: PluginSource) => void;
  problems: () => readonly Problem[];
  /** Goes to a place in the text, counted from 1. */
  onJump: (line: number, column: number) => void;
  /** Another version was made live; `null`: the newest again. */
  onLive: (version: string | null) => void;
  /** What the dock shows changed. `now`: it is to be drawn before anything else happens. */
  onDraw: (now?: boolean) => void;
}

/** The panels beside the text, below it in a page of less width than this, in CSS pixels (styles/layout.css). */
const stacked = matchMedia('(max-width: 759px)');

/** The panels of an open plugin: which of them is in view, and what they load. */
export class WorkspaceDock {
  readonly #options: WorkspaceDockOptions;
  readonly #closed = new AbortController();
  /** These two come with the panels, which are loaded after the text. */
  #histories: Histories | undefined;
  #types: PluginTypes | undefined;
  #state: DockState = { shown: 'tests', isOpen: !stacked.matches };

  constructor(options: WorkspaceDockOptions) {
    const { onDraw } = options;
    this.#options = options;
    const { signal } = this.#closed;
    stacked.addEventListener('change', () => onDraw(), { signal });
    // A dock that has become narrower may have no room left for the chosen tab.
    const scroll = () => scrollToTab(this.#state.shown);
    addEventListener('resize', scroll, { signal });
    signal.addEventListener('abort', settings.subscribe(scroll));
  }

  /** Loads the panels. To be called once all that the options act on is in place. */
  start(): void {
    loadPanels().then(
      (panels) => this.#handlePanels(panels),
      // Without the panels the text can still be edited.
      () => {},
    );
  }

  get state(): DockState {
    return this.#state;
  }

  set state(state: DockState) {
    this.#state = state;
    this.#options.onDraw();
    // Once that is drawn.
    queueMicrotask(() => scrollToTab(state.shown));
  }

  /** Whether the panels are below the text. */
  get isStacked(): boolean {
    return stacked.matches;
  }

  /** The panels that have something to show, in their order. */
  panels(work: Work): DockPanel[] {
    const { access, actions, tests, problems, onJump, onDraw } = this.#options;
    return workspacePanels({
      work,
      access: access(),
      actions,
      tests,
      problems: problems(),
      histories: this.#histories,
      types: this.#types,
      dock: this.#state,
      onJump,
      onShow: (panel) => this.show(panel),
      onFocusTest: (entry, selector) => this.#focusTest(entry, selector),
      onUpdate: () => onDraw(),
    });
  }

  /** Brings a panel into view. */
  show(panel: string): void {
    this.state = { shown: panel, isOpen: true };
  }

  /** Brings a panel into view, with the focus on its tab. */
  focus(panel: string): void {
    this.#state = { shown: panel, isOpen: true };
    this.#options.onDraw(true);
    document.getElementById(`tab-${panel}`)?.focus();
  }

  /** Adds a test to the list, with the focus on its name. */
  addTest(test: PluginTest): void {
    this.show('tests');
    this.#focusTest(this.#options.tests.add(test), '.field.name');
  }

  /** The plugin's types may have changed. */
  reloadTypes(): void {
    void this.#types?.load();
  }

  close(): void {
    this.#closed.abort();
    this.#histories?.close();
    this.#types?.close();
  }

  /** Draws the list of tests, and moves the focus into the row of a test, or without one into the panel. */
  #focusTest(entry: TestEntry | undefined, selector: string): void {
    this.#options.onDraw(true);
    focusInTests(entry, selector);
  }

  #handlePanels({ PluginTypes: Types, createHistories }: Panels): void {
    if (this.#closed.signal.aborted) return;
    const { service, notices, actions, access, language, read, onDraw } = this.#options;
    const addTest = (test: PluginTest) => this.addTest(test);
    this.#histories = createHistories({
      ...this.#options,
      current: read,
      addTest,
      onUpdate: () => onDraw(),
    });
    onDraw();
    this.#types = new Types({
      service,
      notices,
      access,
      canRun: () => actions.canTest,
      language,
      addTest,
      tryOut: (payload) => {
        actions.testRuns.payload.payload = payload;
        this.focus('run');
      },
      show: (panel) => this.focus(panel),
      onUpdate: () => this.#handleTypes(),
    });
    void this.#types.load();
  }

  /** The plugin's types became known, or changed. */
  #handleTypes(): void {
    const { payload } = this.#options.actions.testRuns;
    // A value that fits the input's type is a better beginning than an empty field.
    payload.payload ||= this.#types?.firstSample ?? '';
    this.#options.onDraw();
  }
}
