import { html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { buildPanel } from '../pipeline/build-panel.ts';
import { type Work, testsBadge } from '../pipeline/work.ts';
import '../runs/runs-panel.ts';
import { runPanel } from '../tests/run-panel.ts';
import { testsPanel } from '../tests/tests-panel.ts';
import type { DockPanel, PanelId } from '../ui/dock.ts';
import '../versions/versions-panel.ts';
import type { Workspace } from './workspace.ts';

/** The panels that have something to show, in their order. */
export function workspacePanels(workspace: Workspace): DockPanel[] {
  const { serviceState, access, actions, types, assistance } = workspace;
  const { work } = workspace;
  return [
    testsDockPanel(workspace, work),
    ...(actions.canTest ? [runDockPanel(workspace, work)] : []),
    buildDockPanel(workspace, work),
    ...(types.current ? [typesDockPanel(workspace)] : []),
    ...(serviceState.hasVersions ? [versionsDockPanel(workspace, work)] : []),
    ...(serviceState.hasVersions && access.canSeeRuns ? [runsDockPanel(workspace, work)] : []),
    ...(assistance.isOffered ? [assistance.dockPanel()] : []),
  ];
}

/** Whether a panel has something to show. */
export const hasPanel = (workspace: Workspace, panel: PanelId): boolean =>
  workspacePanels(workspace).some(({ id }) => id === panel);

function testsDockPanel(workspace: Workspace, work: Work): DockPanel {
  const { actions, access, document, dock, types, session, assistance } = workspace;
  return {
    id: 'tests',
    label: texts().frame.tests,
    count: testsBadge(work),
    content: () =>
      testsPanel({
        list: document.tests,
        work,
        schemas: types.schemas,
        canRun: actions.canTest,
        canEdit: access.canWrite,
        canCall: types.canCall,
        onRun: (entries) => void actions.runTests(entries),
        onStop: () => actions.pipeline.stop(),
        onPass:
          assistance.isOffered && access.canWrite ? (entry) => void assistance.passTest(entry) : undefined,
        onWrite: assistance.isOffered && access.canWrite ? () => void assistance.writeTest() : undefined,
        onJump: (line, column) => document.editor.goTo(line, column),
        onFocus: (entry, selector) => dock.focusTest(entry, selector),
        onToggle: () => session.screen.draw(),
      }),
  };
}

function runDockPanel(workspace: Workspace, work: Work): DockPanel {
  const { actions, access, document, types, session } = workspace;
  const { payload: state } = actions;
  return {
    id: 'run',
    label: texts().frame.run,
    content: () =>
      runPanel({
        state,
        work,
        schemas: types.schemas,
        canEdit: access.canWrite,
        canCall: types.canCall && access.canDeploy,
        onMakeCalls: (makesCalls) => {
          state.makesCalls = makesCalls;
          session.screen.draw();
        },
        onInput: (payload) => {
          state.payload = payload;
          session.screen.draw();
        },
        onRun: () => void actions.runPayload(),
        onStop: () => actions.pipeline.stop(),
        onKeep: () => workspace.addTest({ payload: state.payload }),
        onTake: ({ payload, calls = [], outcome }) =>
          workspace.takeCalls(calls, {
            payload,
            ...('result' in outcome && { expected: outcome.result }),
          }),
        onJump: (line, column) => document.editor.goTo(line, column),
      }),
  };
}

function buildDockPanel({ actions, document, assistance }: Workspace, work: Work): DockPanel {
  const { frame, status } = texts();
  const { problems, editor } = document;
  return {
    id: 'build',
    label: frame.build,
    count: {
      number: problems.length,
      label: status.problems(problems.length),
      tone: work.errors > 0 ? 'bad' : 'calm',
    },
    content: () =>
      buildPanel({
        work,
        problems,
        log: actions.pipeline.log,
        onJump: ({ line, column }) => editor.goTo(line, column),
        onExplain: assistance.isOffered ? (problem) => void assistance.explain(problem) : undefined,
        onStop: () => actions.pipeline.stop(),
      }),
  };
}

function typesDockPanel(workspace: Workspace): DockPanel {
  const { actions, access, document, dock, types } = workspace;
  const { current, difference, isOutdated } = types;
  const changes = difference?.changes.length ?? 0;
  return {
    id: 'types',
    label: texts().frame.types,
    count: { number: changes, label: texts().types.badge(changes), tone: 'bad' },
    content: () =>
      current &&
      types.module?.typesPanel({
        types: current,
        lang: document.language,
        since: difference,
        isOutdated,
        canEdit: access.canWrite,
        canRun: actions.canTest,
        addTest: (test) => workspace.addTest(test),
        tryOut: (payload) => {
          actions.payload.payload = payload;
          dock.focus('run');
        },
      }),
  };
}

function versionsDockPanel(workspace: Workspace, work: Work): DockPanel {
  return {
    id: 'versions',
    label: texts().frame.versions,
    content: () =>
      html`<versions-panel
        .host=${workspace}
        .work=${workspace.dock.isInView('versions') ? work : undefined}
      ></versions-panel>`,
  };
}

function runsDockPanel(workspace: Workspace, work: Work): DockPanel {
  return {
    id: 'runs',
    label: texts().frame.runs,
    content: () =>
      html`<runs-panel
        .host=${workspace}
        .work=${workspace.dock.isInView('runs') ? work : undefined}
      ></runs-panel>`,
  };
}
