import type { Problem } from '../code/problems.ts';
import { texts } from '../locales/locale.ts';
import { type Work, testsBadge } from '../pipeline/work.ts';
import type { TestEntry, TestList } from '../tests/test-list.ts';
import type { DockPanel, DockState } from '../ui/dock.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import type { Histories } from './histories.ts';
import { loadedPanels } from './load-panels.ts';
import type { PluginTypes } from './plugin-types.ts';

export interface WorkspacePanelsOptions {
  work: Work;
  access: Access;
  actions: Actions;
  tests: TestList;
  problems: readonly Problem[];
  histories: Histories | undefined;
  types: PluginTypes | undefined;
  dock: DockState;
  /** Goes to a place in the text. */
  onJump: (line: number, column: number) => void;
  /** Brings a panel into view. */
  onShow: (panel: string) => void;
  /** Draws the row of a test, and moves the focus to what a selector finds in it. */
  onFocusTest: (entry: TestEntry | undefined, selector: string) => void;
  onUpdate: () => void;
}

/** The panels beside the text that have something to show, in their order. */
export function workspacePanels(options: WorkspacePanelsOptions): DockPanel[] {
  const { actions, histories, types, dock } = options;
  return [
    testsPanelOf(options),
    ...(actions.canTest ? [runPanelOf(options)] : []),
    buildPanelOf(options),
    ...(types?.panels() ?? []),
    ...(histories?.panels((id) => dock.isOpen && dock.shown === id) ?? []),
  ];
}

function testsPanelOf(options: WorkspacePanelsOptions): DockPanel {
  const { work, access, actions, tests, types, onJump, onFocusTest, onUpdate } = options;
  return {
    id: 'tests',
    label: texts().frame.tests,
    count: testsBadge(work),
    content: () =>
      loadedPanels()?.testsPanel({
        list: tests,
        work,
        schemas: types?.schemas,
        canRun: actions.canTest,
        canEdit: access.canWrite,
        onRun: (entries) => void actions.testRuns.runTests(entries),
        onStop: () => actions.pipeline.stop(),
        onJump,
        onFocus: onFocusTest,
        onToggle: onUpdate,
      }),
  };
}

function runPanelOf(options: WorkspacePanelsOptions): DockPanel {
  const { work, access, actions, tests, types, onJump, onShow, onFocusTest, onUpdate } = options;
  const { payload: state } = actions.testRuns;
  return {
    id: 'run',
    label: texts().frame.run,
    content: () =>
      loadedPanels()?.runPanel({
        state,
        work,
        schemas: types?.schemas,
        canEdit: access.canWrite,
        onInput: (payload) => {
          state.payload = payload;
          onUpdate();
        },
        onRun: () => void actions.testRuns.runPayload(),
        onStop: () => actions.pipeline.stop(),
        onKeep: () => {
          onShow('tests');
          onFocusTest(tests.add({ payload: state.payload }), '.field.name');
        },
        onJump,
      }),
  };
}

function buildPanelOf({ work, actions, problems, onJump }: WorkspacePanelsOptions): DockPanel {
  const { frame, status } = texts();
  return {
    id: 'build',
    label: frame.build,
    count: {
      number: problems.length,
      label: status.problems(problems.length),
      tone: work.errors > 0 ? 'bad' : 'calm',
    },
    content: () =>
      loadedPanels()?.buildPanel({
        work,
        problems,
        log: actions.log.text,
        onJump: ({ line, column }) => onJump(line, column),
        onStop: () => actions.pipeline.stop(),
      }),
  };
}
