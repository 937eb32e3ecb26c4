import type { PluginTarget } from '../plugin/target.ts';
import { CommandMenu } from '../ui/command-menu.ts';
import { type Command, runCommand, shortcutAria, shortcutText } from '../ui/commands.ts';
import { Dock, type DockPanel } from '../ui/dock.ts';
import { el, icon } from '../ui/dom.ts';
import { ownerLine, pluginHeading } from '../plugin/identity-view.ts';
import { StatusLine } from '../ui/status-line.ts';

/** The element tree of an open plugin, without what goes on in it. */
export interface WorkspaceFrame {
  element: HTMLElement;
  code: HTMLElement;
  language: HTMLElement;
  status: StatusLine<'saved' | 'built' | 'deployed'>;
  cursor: HTMLElement;
  dock: Dock;
  menu: CommandMenu;
  /** Shows which commands are offered, and which can be used now. */
  update: () => void;
}

export interface WorkspaceFrameOptions {
  target: PluginTarget;
  notices: HTMLElement;
  panels: readonly [DockPanel, ...DockPanel[]];
  commands: readonly Command[];
  /** The commands with a button of their own; the last is the one that all leads to. */
  buttons: readonly string[];
}

/** The id of the words that say how to leave the text by keyboard. */
export const LEAVING_HINT = 'leaving-hint';

/** Builds the page of an open plugin: name, status and actions above, text and panels, and a line of facts below. */
export function workspaceFrame(options: WorkspaceFrameOptions): WorkspaceFrame {
  const { target, notices, panels, commands, buttons } = options;
  const language = el('span', { class: 'badge' });
  const status = new StatusLine(['saved', 'built', 'deployed']);
  const menu = new CommandMenu(commands);
  const dock = new Dock('Tests, runs and builds', panels, matchMedia('(min-width: 760px)').matches);
  const code = el('div', { class: 'code', dir: 'ltr' });
  const cursor = el('span', { class: 'cursor' });
  const own = commands
    .filter(({ id }) => buttons.includes(id))
    .map((command) => ({ command, button: commandButton(command, command.id === buttons.at(-1)) }));

  const element = el(
    'div',
    { class: 'workspace' },
    el(
      'header',
      { class: 'top' },
      el(
        'div',
        { class: 'identity' },
        el('div', { class: 'plugin' }, ...pluginHeading(target), language),
        ownerLine(target.ident),
      ),
      el('div', { class: 'actions' }, ...own.map(({ button }) => button), menu.element),
    ),
    // Shown below; here, as it is what one wants to hear of first.
    status.element,
    notices,
    el('div', { class: 'middle' }, el('main', { class: 'text', 'aria-label': 'Source' }, code), dock.element),
    el(
      'footer',
      { class: 'bottom' },
      cursor,
      el('span', { id: LEAVING_HINT, class: 'hint' }, 'Esc, then Tab leaves the text. F1 lists all commands'),
    ),
  );
  const update = () => {
    for (const { command, button } of own) {
      button.hidden = command.offered?.() === false;
      button.setAttribute('aria-disabled', String(command.enabled?.() === false));
    }
  };
  return { element, code, language, status, cursor, dock, menu, update };
}

function commandButton(command: Command, primary: boolean): HTMLButtonElement {
  const { label, shortcut, icon: sign } = command;
  return el(
    'button',
    {
      type: 'button',
      class: primary ? 'button primary' : 'button',
      onclick: () => runCommand(command),
      ...(shortcut
        ? { 'aria-keyshortcuts': shortcutAria(shortcut), title: `${label} (${shortcutText(shortcut)})` }
        : {}),
    },
    ...(sign ? [icon(sign)] : []),
    command.short ?? label,
  );
}
