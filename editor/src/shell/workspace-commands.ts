import type { Actions } from '../pipeline/actions.ts';
import type { Command } from '../ui/commands.ts';
import type { Dock } from '../ui/dock.ts';
import type { TextCommand, TextHelp } from './text-help.ts';

/** What the commands of an open plugin act on. It is there once they are used, not when they are listed. */
export interface CommandTargets {
  actions: () => Actions;
  dock: () => Dock;
  save: () => void;
  runAll: () => void;
  hasTests: () => boolean;
  toProblem: (by: 1 | -1) => void;
  toText: () => void;
  textHelp: () => TextHelp;
  palette: () => void;
  help: () => void;
}

/** The commands with buttons, in their order. */
export const BUTTONS = ['save', 'build', 'test', 'deploy'] as const;

/** All that can be done with an open plugin. */
export function workspaceCommands(on: CommandTargets): Command[] {
  const idle = () => on.actions().pipeline.action === undefined;
  const testing = () => on.actions().testing;
  const problems = () => on.actions().problems.length > 0;
  return [
    { id: 'save', label: 'Save', shortcut: { key: 's' }, run: on.save },
    {
      id: 'build',
      label: 'Build',
      shortcut: { key: 'b' },
      enabled: idle,
      run: () => void on.actions().build(),
    },
    {
      id: 'test',
      label: 'Run all tests',
      short: 'Test',
      shortcut: { key: 'Enter' },
      offered: testing,
      enabled: () => idle() && on.hasTests(),
      run: on.runAll,
    },
    {
      id: 'deploy',
      label: 'Deploy',
      shortcut: { key: 'd', shift: true },
      enabled: idle,
      run: () => void on.actions().deploy(),
    },
    {
      id: 'stop',
      label: 'Stop what is running',
      shortcut: { key: 'F5', shift: true, alone: true },
      enabled: () => !idle(),
      run: () => on.actions().pipeline.stop(),
    },
    {
      id: 'next',
      label: 'Next problem',
      shortcut: { key: 'F8', alone: true },
      enabled: problems,
      run: () => on.toProblem(1),
    },
    {
      id: 'previous',
      label: 'Previous problem',
      shortcut: { key: 'F8', shift: true, alone: true },
      enabled: problems,
      run: () => on.toProblem(-1),
    },
    { id: 'tests', label: 'Go to the tests', run: () => on.dock().focus('tests') },
    { id: 'payload', label: 'Run a payload', offered: testing, run: () => on.dock().focus('run') },
    { id: 'problems', label: 'Go to the problems', run: () => on.dock().focus('build') },
    { id: 'text', label: 'Go to the text', run: on.toText },
    ...textCommands(on.textHelp),
    {
      id: 'palette',
      label: 'All commands',
      shortcut: { key: 'F1', alone: true },
      alternative: { key: 'p', shift: true },
      run: on.palette,
    },
    { id: 'help', label: 'Keyboard help', shortcut: { key: 'F1', shift: true, alone: true }, run: on.help },
  ];
}

/** What can be done with the text at the cursor. */
function textCommands(help: () => TextHelp): Command[] {
  const helped = (command: Pick<Command, 'label' | 'shortcut'>, id: TextCommand): Command => ({
    ...command,
    id,
    inText: true,
    offered: () => help().isOffered,
    run: () => void help().run(id),
  });
  const own = (command: Pick<Command, 'label' | 'shortcut'>, id: TextCommand): Command => ({
    ...command,
    id,
    ownKey: true,
    run: () => void help().run(id),
  });
  return [
    helped({ label: 'Complete', shortcut: { key: ' ', control: true } }, 'complete'),
    helped({ label: 'Show the parameters', shortcut: { key: ' ', shift: true } }, 'signature'),
    helped({ label: 'Quick fix', shortcut: { key: '.' } }, 'fixes'),
    helped({ label: 'Go to the definition', shortcut: { key: 'F12', alone: true } }, 'definition'),
    helped({ label: 'Rename', shortcut: { key: 'F2', alone: true } }, 'rename'),
    helped({ label: 'Format the text', shortcut: { key: 'f', shift: true, alt: true } }, 'format'),
    own({ label: 'Find and replace', shortcut: { key: 'f' } }, 'find'),
    own({ label: 'Comment lines', shortcut: { key: '/' } }, 'comment'),
  ];
}
