import { type TemplateResult, html, nothing } from 'lit/html.js';
import { prettyLanguage } from '../code/languages.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { buildPanel } from '../pipeline/build-panel.ts';
import { type Work, statusOf, testsBadge } from '../pipeline/work.ts';
import { ownerLine, pluginHeading } from '../plugin/identity-view.ts';
import '../runs/runs-panel.ts';
import { runPanel } from '../tests/run-panel.ts';
import { testsPanel } from '../tests/tests-panel.ts';
import { isEnabled, isOffered, runCommand, shortcutAria, shortcutText } from '../ui/commands.ts';
import { type DockPanel, type PanelId, dockView } from '../ui/dock.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import { statusLine } from '../ui/status-line.ts';
import '../versions/versions-panel.ts';
import type { Access } from './access.ts';
import { LEAVING_HINT } from './plugin-document.ts';
import type { Workspace } from './workspace.ts';

/** The page of an open plugin: its name and buttons, then the text and the panels, then the status line. */
export function workspaceView(workspace: Workspace): TemplateResult {
  const { session, document, actions, access, commands, dock, menu, work } = workspace;
  const { target, notices } = session;
  const { pipeline } = actions;
  // A service that runs no plugins can still build them.
  const tryOut = actions.canTest ? 'test' : 'build';
  const { frame } = texts();
  const { line, column } = document.editor.cursor;
  return html`<div class="workspace">
    <header class="top">
      <div class="identity">
        <div class="plugin">
          ${pluginHeading(target)}<span class="badge">${prettyLanguage(document.language)}</span>
        </div>
        ${ownerLine(target.ident)}
      </div>
      ${readOnlyBadge(access)}
      <div class="actions">
        ${commandButton(workspace, tryOut, pipeline.isSlow ? () => pipeline.stop() : undefined)}
        ${commandButton(workspace, 'deploy')} ${menu.view(commands)}
      </div>
    </header>
    ${statusLine(statusOf(work))}
    <div class="middle">
      <main class="text" aria-label=${frame.source}>
        <div class="code" dir="ltr">${document.editor.element}</div>
        ${notices.view()}
      </main>
      ${dockView(panelsOf(workspace, work), dock)}
    </div>
    <footer class="bottom">
      <span class="cursor">${frame.cursor(formatNumber(line), formatNumber(column))}</span
      ><span id=${LEAVING_HINT} class="hint">${frame.leaving}</span>
    </footer>
  </div>`;
}

function readOnlyBadge({ readOnlyReason }: Access): TemplateResult | typeof nothing {
  if (readOnlyReason === undefined) return nothing;
  return html`<p class="read-only" title=${readOnlyReason}>
    ${icon('lock')}<span>${texts().frame.readOnly}</span
    ><span class="visually-hidden">. ${readOnlyReason}</span>
  </p>`;
}

function commandButton(
  { commands }: Workspace,
  id: string,
  onStop?: () => void,
): TemplateResult | typeof nothing {
  const command = commands.find((one) => one.id === id);
  if (!command || !(onStop || isOffered(command))) return nothing;
  const { label, shortcut, short } = command;
  return startButton(
    {
      className: id === 'deploy' ? 'button primary' : 'button',
      content: short ?? label,
      title: shortcut ? `${label} (${shortcutText(shortcut)})` : label,
      keys: shortcut && shortcutAria(shortcut),
      isOff: !isEnabled(command),
      onStart: () => runCommand(command),
    },
    onStop,
  );
}

/** Whether a panel has something to show. */
export const hasPanel = (workspace: Workspace, panel: PanelId): boolean =>
  panelsOf(workspace, workspace.work).some(({ id }) => id === panel);

/** The panels that have something to show, in their order. */
function panelsOf(workspace: Workspace, work: Work): DockPanel[] {
  const { actions, assistance, access, dock, document, serviceState, types } = workspace;
  const { problems } = document.editor;
  const { frame, status } = texts();
  // These two load what they show as long as they are in view.
  const workIn = (panel: PanelId) => (dock.isInView(panel) ? work : undefined);
  const versions = () =>
    html`<versions-panel .host=${workspace} .work=${workIn('versions')}></versions-panel>`;
  const runs = () => html`<runs-panel .host=${workspace} .work=${workIn('runs')}></runs-panel>`;
  return [
    {
      id: 'tests',
      label: frame.tests,
      count: testsBadge(work),
      content: () => testsPanel(workspace, work),
    },
    ...(actions.canTest
      ? [{ id: 'run' as const, label: frame.run, content: () => runPanel(workspace, work) }]
      : []),
    {
      id: 'build',
      label: frame.build,
      count: {
        number: problems.length,
        label: status.problems(problems.length),
        tone: work.errors > 0 ? 'bad' : 'calm',
      },
      content: () => buildPanel(workspace, work),
    },
    ...(types.current ? [typesDockPanel(workspace)] : []),
    ...(serviceState.hasVersions
      ? [{ id: 'versions' as const, label: frame.versions, content: versions }]
      : []),
    ...(serviceState.hasVersions && access.canSeeRuns
      ? [{ id: 'runs' as const, label: frame.runs, content: runs }]
      : []),
    ...(assistance.isOffered ? [assistance.dockPanel()] : []),
  ];
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
