import { toggleComment } from '@codemirror/commands';
import { texts } from '../locales/locale.ts';
import type { Command } from '../ui/commands.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import type { PluginDocument } from './plugin-document.ts';
import type { TextCommand, TextHelp } from './text-help.ts';
import type { WorkspaceDock } from './workspace-dock.ts';

/** What the commands of an open plugin act on. */
export interface CommandTargets {
  document: PluginDocument;
  actions: Actions;
  dock: WorkspaceDock;
  textHelp: TextHelp;
  /** What may be done here. */
  access: () => Access;
  /** Whether a panel has something to show. */
  hasPanel: (panel: string) => boolean;
  save: () => void;
  /** Opens the search in the text. */
  search: (options: { replace: boolean }) => void;
  /** Deploys; `withMessage`: the user writes a message for the version before. */
  deploy: (options: { withMessage: boolean }) => void;
  startOver: () => void;
  showSettings: () => void;
  showPalette: () => void;
  showHelp: () => void;
}

/** The commands with buttons, in their order. */
export const BUTTONS = ['save', 'build', 'test', 'deploy'] as const;

/** All commands on an open plugin, with labels in the present language. */
export function workspaceCommands(on: CommandTargets): Command[] {
  const groups = [
    workCommands(on),
    findCommands(on),
    placeCommands(on),
    pluginCommands(on),
    textCommands(on),
    listCommands(on),
  ];
  return groups.flatMap((commands, group) => commands.map((command) => ({ ...command, group })));
}

/** Saves, builds, tests and deploys. */
function workCommands({ document, actions, access, save, deploy }: CommandTargets): Command[] {
  const words = texts().commands;
  const { tests } = document;
  const isIdle = () => actions.pipeline.action === undefined;
  const canWrite = () => access().canWrite;
  const canDeploy = () => access().canDeploy;
  return [
    { id: 'save', label: words.save, shortcut: { key: 's' }, offered: canWrite, run: save },
    {
      id: 'build',
      label: words.build,
      shortcut: { key: 'b' },
      isVimKey: true,
      offered: canWrite,
      enabled: isIdle,
      run: () => void actions.build(),
    },
    {
      id: 'test',
      label: words.test,
      short: words.testShort,
      shortcut: { key: 'Enter' },
      offered: () => actions.canTest,
      enabled: () => isIdle() && tests.entries.length > 0,
      run: () => void actions.testRuns.runTests(tests.entries),
    },
    {
      id: 'deploy',
      label: words.deploy,
      shortcut: { key: 'd', shift: true },
      offered: canDeploy,
      enabled: isIdle,
      run: () => deploy({ withMessage: false }),
    },
    {
      id: 'deploy-message',
      label: words.deployWithMessage,
      offered: canDeploy,
      enabled: isIdle,
      run: () => deploy({ withMessage: true }),
    },
    {
      id: 'stop',
      label: words.stop,
      shortcut: { key: 'F5', shift: true, alone: true },
      offered: canWrite,
      enabled: () => !isIdle(),
      run: () => actions.pipeline.stop(),
    },
  ];
}

/** Goes to problems, and finds and replaces. */
function findCommands({ document, access, search }: CommandTargets): Command[] {
  const words = texts().commands;
  const { editor } = document;
  const hasProblems = () => document.problems.length > 0;
  return [
    {
      id: 'next',
      label: words.next,
      shortcut: { key: 'F8', alone: true },
      enabled: hasProblems,
      run: () => void editor.goToProblem(1),
    },
    {
      id: 'previous',
      label: words.previous,
      shortcut: { key: 'F8', shift: true, alone: true },
      enabled: hasProblems,
      run: () => void editor.goToProblem(-1),
    },
    {
      id: 'find',
      label: words.find,
      shortcut: { key: 'f' },
      isVimKey: true,
      run: () => search({ replace: false }),
    },
    {
      id: 'replace',
      label: words.replace,
      shortcut: { key: 'h' },
      isVimKey: true,
      offered: () => access().canWrite,
      run: () => search({ replace: true }),
    },
  ];
}

/** Goes to a panel, or to the text. */
function placeCommands({ document, actions, dock, hasPanel }: CommandTargets): Command[] {
  const words = texts().commands;
  return [
    { id: 'tests', label: words.tests, run: () => dock.focus('tests') },
    { id: 'payload', label: words.payload, offered: () => actions.canTest, run: () => dock.focus('run') },
    { id: 'problems', label: words.problems, run: () => dock.focus('build') },
    {
      id: 'types',
      label: words.types,
      offered: () => hasPanel('types'),
      run: () => dock.focus('types'),
    },
    {
      id: 'versions',
      label: words.versions,
      offered: () => hasPanel('versions'),
      run: () => dock.focus('versions'),
    },
    { id: 'runs', label: words.runs, offered: () => hasPanel('runs'), run: () => dock.focus('runs') },
    { id: 'text', label: words.text, run: () => document.editor.focus() },
  ];
}

function pluginCommands({ access, startOver, showSettings }: CommandTargets): Command[] {
  const words = texts().commands;
  return [
    { id: 'language', label: words.language, offered: () => access().canWrite, run: startOver },
    { id: 'settings', label: words.settings, shortcut: { key: ',' }, run: showSettings },
  ];
}

/** Lists the commands. */
function listCommands({ showPalette, showHelp }: CommandTargets): Command[] {
  const words = texts().commands;
  return [
    {
      id: 'palette',
      label: words.palette,
      shortcut: { key: 'F1', alone: true },
      alternative: { key: 'p', shift: true },
      run: showPalette,
    },
    { id: 'help', label: words.help, shortcut: { key: 'F1', shift: true, alone: true }, run: showHelp },
  ];
}

/** The commands on the text at the cursor. */
function textCommands({ document, textHelp: help, access }: CommandTargets): Command[] {
  const words = texts().commands;
  const canWrite = () => access().canWrite;
  const helped = (
    command: Pick<Command, 'label' | 'shortcut'>,
    id: TextCommand,
    isOffered = () => true,
  ): Command => ({
    ...command,
    id,
    inText: true,
    offered: () => help.isOffered && isOffered(),
    run: () => void help.run(id),
  });
  return [
    helped({ label: words.complete, shortcut: { key: ' ', control: true } }, 'complete', canWrite),
    helped({ label: words.signature, shortcut: { key: ' ', shift: true } }, 'signature', canWrite),
    helped({ label: words.fixes, shortcut: { key: '.' } }, 'fixes', canWrite),
    helped({ label: words.definition, shortcut: { key: 'F12', alone: true } }, 'definition'),
    helped({ label: words.rename, shortcut: { key: 'F2', alone: true } }, 'rename', canWrite),
    helped({ label: words.format, shortcut: { key: 'f', shift: true, alt: true } }, 'format', canWrite),
    {
      id: 'comment',
      label: words.comment,
      shortcut: { key: '/' },
      ownKey: true,
      offered: canWrite,
      run: () => document.editor.run(toggleComment),
    },
  ];
}
