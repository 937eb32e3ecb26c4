import { type TemplateResult, html, nothing } from 'lit/html.js';
import { prettyLanguage } from '../code/languages.ts';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { stopButton } from '../pipeline/stop-button.ts';
import { type Work, statusOf } from '../pipeline/work.ts';
import { ownerLine, pluginHeading } from '../plugin/identity-view.ts';
import type { PluginTarget } from '../plugin/target.ts';
import {
  type Command,
  isEnabled,
  isOffered,
  runCommand,
  shortcutAria,
  shortcutText,
} from '../ui/commands.ts';
import { type DockPanel, type DockState, dockView } from '../ui/dock.ts';
import { icon } from '../ui/icon.ts';
import { statusLine } from '../ui/status-line.ts';
import { type Access, readOnlyReason } from './access.ts';
import { loadedPanels } from './load-panels.ts';
import { BUTTONS } from './workspace-commands.ts';

export interface WorkspaceViewOptions {
  target: PluginTarget;
  lang: string;
  work: Work;
  access: Access;
  /** Whether the action under way takes so long that the head of the page has a button to stop it. */
  isSlow: boolean;
  notices: TemplateResult;
  /** The element of the text editor. */
  code: HTMLElement;
  cursor: { line: number; column: number };
  panels: readonly DockPanel[];
  dock: DockState;
  /** Whether the panels are below the text. */
  isStacked: boolean;
  commands: readonly Command[];
  /** The menu with all commands. */
  menu: TemplateResult;
  onDock: (state: DockState) => void;
  onFocusPanel: (panel: string) => void;
  onStop: () => void;
}

/** The id of the text that says how to leave the editor by keyboard. */
export const LEAVING_HINT = 'leaving-hint';

/** The page of an open plugin: its name and buttons, then the text and the panels, then the status line. */
export function workspaceView(options: WorkspaceViewOptions): TemplateResult {
  const { target, lang, work, notices, code, cursor, isStacked, dock, commands, isSlow, onStop } = options;
  const { frame } = texts();
  // One that is not offered keeps its place, so that the others keep their elements when it is.
  const buttons = BUTTONS.flatMap((id) => commands.find((command) => command.id === id) ?? []);
  return html`<div class="workspace">
    <header class="top">
      <div class="identity">
        <div class="plugin">${pluginHeading(target)}<span class="badge">${prettyLanguage(lang)}</span></div>
        ${ownerLine(target.ident)}
      </div>
      ${readOnlyBadge(options)}
      <div class="actions">
        ${buttons.map((command) => (isOffered(command) ? commandButton(command) : nothing))}${isSlow ? stopButton(onStop) : nothing}
        ${options.menu}
      </div>
    </header>
    ${statusLine(statusOf(work))} ${notices}
    <div class="middle">
      <main class="text" aria-label=${frame.source}><div class="code" dir="ltr">${code}</div></main>
      ${dockView({ panels: options.panels, state: dock, splitter: loadedPanels()?.splitter(isStacked, dock.isOpen) ?? nothing, onChange: options.onDock, onFocus: options.onFocusPanel })}
    </div>
    <footer class="bottom">
      <span class="cursor">${frame.cursor(formatNumber(cursor.line), formatNumber(cursor.column))}</span
      ><span id=${LEAVING_HINT} class="hint">${frame.leaving}</span>
    </footer>
  </div>`;
}

function readOnlyBadge({ access }: WorkspaceViewOptions): TemplateResult | typeof nothing {
  const reason = readOnlyReason(access);
  if (reason === undefined) return nothing;
  return html`<p class="read-only" title=${reason}>
    ${icon('lock')}<span>${texts().frame.readOnly}</span><span class="visually-hidden">. ${reason}</span>
  </p>`;
}

function commandButton(command: Command): TemplateResult {
  const { id, label, shortcut, short } = command;
  return html`<button
    type="button"
    class=${id === BUTTONS.at(-1) ? 'button primary' : 'button'}
    aria-disabled=${!isEnabled(command)}
    aria-keyshortcuts=${shortcut ? shortcutAria(shortcut) : nothing}
    title=${shortcut ? `${label} (${shortcutText(shortcut)})` : label}
    @click=${() => runCommand(command)}
  >
    ${short ?? label}
  </button>`;
}
