import { texts } from '../locales/locale.ts';
import type { Command } from '../ui/commands.ts';
import type { Actions } from './actions.ts';
import type { TextCommand, TextHelp } from './text-help.ts';

/** What the commands of an open plugin act on. It is there once they are used, not when they are listed. */
export interface CommandTargets {
  actions: () => Actions;
  /** What may be done here. */
  access: () => { canWrite: boolean; canDeploy: boolean };
  focusPanel: (panel: string) => void;
  hasPanel: (panel: string) => boolean;
  save: () => void;
  runAll: () => void;
  hasTests: () => boolean;
  hasProblems: () => boolean;
  /** Deploys; `ask`: asks for a message before. */
  deploy: (options: { ask: boolean }) => void;
  find: (options: { replace: boolean }) => void;
  toProblem: (by: 1 | -1) => void;
  toText: () => void;
  startOver: () => void;
  settings: () => void;
  textHelp: () => TextHelp;
  palette: () => void;
  help: () => void;
}

/** The commands with buttons, in their order. */
export const BUTTONS = ['save', 'build', 'test', 'deploy'] as const;

/** All that can be done with an open plugin, in the present language. */
export function workspaceCommands(on: CommandTargets): Command[] {
  const words = texts().commands;
  const isIdle = () => on.actions().pipeline.action === undefined;
  const canWrite = () => on.access().canWrite;
  const canDeploy = () => on.access().canDeploy;
  const canTest = () => on.actions().canTest && canWrite();
  const work: Command[] = [
    { id: 'save', label: words.save, shortcut: { key: 's' }, offered: canWrite, run: on.save },
    {
      id: 'build',
      label: words.build,
      shortcut: { key: 'b' },
      isVimKey: true,
      offered: canWrite,
      enabled: isIdle,
      run: () => void on.actions().build(),
    },
    {
      id: 'test',
      label: words.test,
      short: words.testShort,
      shortcut: { key: 'Enter' },
      offered: canTest,
      enabled: () => isIdle() && on.hasTests(),
      run: on.runAll,
    },
    {
      id: 'deploy',
      label: words.deploy,
      shortcut: { key: 'd', shift: true },
      offered: canDeploy,
      enabled: isIdle,
      run: () => on.deploy({ ask: false }),
    },
    {
      id: 'deploy-message',
      label: words.deployWithMessage,
      offered: canDeploy,
      enabled: isIdle,
      run: () => on.deploy({ ask: true }),
    },
    {
      id: 'stop',
      label: words.stop,
      shortcut: { key: 'F5', shift: true, alone: true },
      offered: canWrite,
      enabled: () => !isIdle(),
      run: () => on.actions().pipeline.stop(),
    },
  ];
  const find: Command[] = [
    {
      id: 'next',
      label: words.next,
      shortcut: { key: 'F8', alone: true },
      enabled: on.hasProblems,
      run: () => on.toProblem(1),
    },
    {
      id: 'previous',
      label: words.previous,
      shortcut: { key: 'F8', shift: true, alone: true },
      enabled: on.hasProblems,
      run: () => on.toProblem(-1),
    },
    {
      id: 'find',
      label: words.find,
      shortcut: { key: 'f' },
      isVimKey: true,
      run: () => on.find({ replace: false }),
    },
    {
      id: 'replace',
      label: words.replace,
      shortcut: { key: 'h' },
      isVimKey: true,
      offered: canWrite,
      run: () => on.find({ replace: true }),
    },
  ];
  const places: Command[] = [
    { id: 'tests', label: words.tests, run: () => on.focusPanel('tests') },
    { id: 'payload', label: words.payload, offered: canTest, run: () => on.focusPanel('run') },
    { id: 'problems', label: words.problems, run: () => on.focusPanel('build') },
    {
      id: 'types',
      label: words.types,
      offered: () => on.hasPanel('types'),
      run: () => on.focusPanel('types'),
    },
    {
      id: 'versions',
      label: words.versions,
      offered: () => on.hasPanel('versions'),
      run: () => on.focusPanel('versions'),
    },
    { id: 'runs', label: words.runs, offered: () => on.hasPanel('runs'), run: () => on.focusPanel('runs') },
    { id: 'text', label: words.text, run: on.toText },
  ];
  const plugin: Command[] = [
    { id: 'language', label: words.language, offered: canWrite, run: on.startOver },
    { id: 'settings', label: words.settings, shortcut: { key: ',' }, run: on.settings },
  ];
  const rest: Command[] = [
    {
      id: 'palette',
      label: words.palette,
      shortcut: { key: 'F1', alone: true },
      alternative: { key: 'p', shift: true },
      run: on.palette,
    },
    { id: 'help', label: words.help, shortcut: { key: 'F1', shift: true, alone: true }, run: on.help },
  ];
  const groups = [work, find, places, plugin, textCommands(on.textHelp, canWrite), rest];
  return groups.flatMap((commands, group) => commands.map((command) => ({ ...command, group })));
}

/** What can be done with the text at the cursor. */
function textCommands(help: () => TextHelp, canWrite: () => boolean): Command[] {
  const words = texts().commands;
  const helped = (
    command: Pick<Command, 'label' | 'shortcut'>,
    id: TextCommand,
    isOffered = () => true,
  ): Command => ({
    ...command,
    id,
    inText: true,
    offered: () => help().isOffered && isOffered(),
    run: () => void help().run(id),
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
      run: () => void help().run('comment'),
    },
  ];
}
