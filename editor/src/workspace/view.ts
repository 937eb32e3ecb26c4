import { type TemplateResult, html, nothing } from 'lit/html.js';
import { prettyLanguage } from '../code/languages.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { statusOf } from '../pipeline/work.ts';
import { ownerLine, pluginHeading } from '../plugin/identity-view.ts';
import { isEnabled, isOffered, runCommand, shortcutAria, shortcutText } from '../ui/commands.ts';
import { dockView } from '../ui/dock.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import { statusLine } from '../ui/status-line.ts';
import type { Access } from './access.ts';
import { workspacePanels } from './panels.ts';
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
  const { line, column } = document.cursor;
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
      ${dockView(workspacePanels(workspace), dock)}
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
