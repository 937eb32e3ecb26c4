import { toggleComment } from '@codemirror/commands';
import { texts } from '../locales/locale.ts';
import type { TestEntry } from '../tests/test-list.ts';
import { type Command, runByKey } from '../ui/commands.ts';
import { settings } from '../ui/settings.ts';
import type { TextCommand } from './text-help.ts';
import { hasPanel } from './view.ts';
import type { Workspace } from './workspace.ts';

/** All commands on an open plugin, with labels in the present language. */
export function workspaceCommands(on: Workspace): Command[] {
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
function workCommands(workspace: Workspace): Command[] {
  const words = texts().commands;
  const { document, actions, access, saving } = workspace;
  const { tests } = document;
  const isIdle = () => actions.pipeline.action === undefined;
  const canWrite = () => access.canWrite;
  return [
    { id: 'save', label: words.save, shortcut: { key: 's' }, offered: canWrite, run: () => saving.save() },
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
      enabled: isIdle,
      // Without tests, the build is what there is to try.
      run: () => void (tests.entries.length ? actions.runTests(tests.entries) : actions.build()),
    },
    {
      id: 'deploy',
      label: words.deploy,
      shortcut: { key: 'd', shift: true },
      offered: () => actions.canDeploy,
      enabled: isIdle,
      run: () => void workspace.deploy(),
    },
    {
      id: 'stop',
      label: words.stop,
      shortcut: { key: 'F5', shift: true, alone: true },
      offered: () => access.canWrite || access.canDeploy,
      enabled: () => !isIdle(),
      run: () => actions.pipeline.stop(),
    },
  ];
}

/** Goes to problems, and finds and replaces. */
function findCommands(workspace: Workspace): Command[] {
  const words = texts().commands;
  const { document, access } = workspace;
  const { editor } = document;
  const hasProblems = () => editor.problems.length > 0;
  return [
    {
      id: 'next',
      label: words.next,
      shortcut: { key: 'F8', alone: true },
      enabled: hasProblems,
      run: () => editor.goToProblem(1),
    },
    {
      id: 'previous',
      label: words.previous,
      shortcut: { key: 'F8', shift: true, alone: true },
      enabled: hasProblems,
      run: () => editor.goToProblem(-1),
    },
    {
      id: 'find',
      label: words.find,
      shortcut: { key: 'f' },
      isVimKey: true,
      run: () => void workspace.search({ replace: false }),
    },
    {
      id: 'replace',
      label: words.replace,
      shortcut: { key: 'h' },
      isVimKey: true,
      offered: () => access.canWrite,
      run: () => void workspace.search({ replace: true }),
    },
  ];
}

/** Goes to a panel, or to the text. */
function placeCommands(workspace: Workspace): Command[] {
  const words = texts().commands;
  const { document, actions, dock } = workspace;
  return [
    { id: 'tests', label: words.tests, run: () => dock.focus('tests') },
    { id: 'payload', label: words.payload, offered: () => actions.canTest, run: () => dock.focus('run') },
    { id: 'problems', label: words.problems, run: () => dock.focus('build') },
    {
      id: 'types',
      label: words.types,
      offered: () => hasPanel(workspace, 'types'),
      run: () => dock.focus('types'),
    },
    {
      id: 'versions',
      label: words.versions,
      offered: () => hasPanel(workspace, 'versions'),
      run: () => dock.focus('versions'),
    },
    {
      id: 'runs',
      label: words.runs,
      offered: () => hasPanel(workspace, 'runs'),
      run: () => dock.focus('runs'),
    },
    { id: 'text', label: words.text, run: () => document.editor.focus() },
  ];
}

function pluginCommands(workspace: Workspace): Command[] {
  const { commands: words, settings: names } = texts();
  return [
    {
      id: 'language',
      label: words.language,
      offered: () => workspace.access.canWrite,
      run: () => void workspace.startOver(),
    },
    {
      id: 'settings',
      label: words.settings,
      keywords: [names.wrap, names.fontSize, names.tabWidth, names.vim].join(' '),
      shortcut: { key: ',' },
      run: () => void showDialog(workspace, ({ showSettings }) => showSettings(settings)),
    },
  ];
}

async function showDialog(
  { session }: Workspace,
  show: (dialogs: typeof import('./dialogs.ts')) => void,
): Promise<void> {
  const module = await session.notices.loadModule(() => import('./dialogs.ts'));
  // It may have been asked for twice meanwhile.
  if (module && !document.querySelector('dialog[open]')) show(module);
}

async function showPalette({ commands, session }: Workspace): Promise<void> {
  const module = await session.notices.loadModule(() => import('../ui/command-palette.ts'));
  module?.showPalette(commands);
}

/** Lists the commands. */
function listCommands(workspace: Workspace): Command[] {
  const { commands: words, about } = texts();
  return [
    {
      id: 'palette',
      label: words.palette,
      shortcut: { key: 'F1', alone: true },
      alternative: { key: 'p', shift: true },
      run: () => void showPalette(workspace),
    },
    {
      id: 'help',
      label: words.help,
      shortcut: { key: 'F1', shift: true, alone: true },
      run: () => void showDialog(workspace, ({ showKeys }) => showKeys(workspace.commands)),
    },
    {
      id: 'about',
      label: words.about,
      keywords: about.sandboxText.join(' '),
      run: () =>
        void showDialog(workspace, ({ showAbout }) =>
          showAbout(workspace.session.target, workspace.document.language),
        ),
    },
  ];
}

/** The commands on the text at the cursor. */
function textCommands({ document, textHelp: help, access }: Workspace): Command[] {
  const words = texts().commands;
  const canWrite = () => access.canWrite;
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

/** Handles a key that was pressed anywhere on the page of an open plugin. */
export function handleWorkspaceKey(event: KeyboardEvent, workspace: Workspace): void {
  const { commands, menu } = workspace;
  // Under an open dialog the only command is to save: without that, the browser would offer to save the page.
  if (document.querySelector('dialog[open]')) {
    const save = commands.filter(({ id }) => id === 'save');
    runByKey(event, save);
    return;
  }
  if (runFocusedPayload(event, workspace) || runByKey(event, commands)) return;
  const isMenuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
  // In a field of a form the browser's own menu is of more use: it has spelling and the clipboard.
  if (!isMenuKey || (event.target as Element | null)?.closest('input, textarea')) return;
  event.preventDefault();
  menu.open();
}

/** In the field of a payload, the key that runs all tests runs that payload alone. Returns whether it was that key. */
function runFocusedPayload(event: KeyboardEvent, { document: { tests }, actions }: Workspace): boolean {
  const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (key !== 'Enter' || !(ctrlKey || metaKey) || shiftKey || altKey) return false;
  const focused = focusedPayload(event.target, tests.entries);
  if (!focused) return false;
  event.preventDefault();
  event.stopPropagation();
  if (event.repeat || !actions.canTest) return true;
  if (focused === 'payload') void actions.runPayload();
  else {
    // Its result must not fold the field that has the focus.
    focused.areInputsOpen = true;
    void actions.runTests([focused]);
  }
  return true;
}

/** The test whose field has the focus, or the payload of the panel that runs one. */
function focusedPayload(
  target: EventTarget | null,
  entries: readonly TestEntry[],
): TestEntry | 'payload' | undefined {
  if (!(target instanceof Element)) return undefined;
  if (target.id === 'run-payload') return 'payload';
  const id = Number(target.closest<HTMLElement>('.test-row')?.dataset['id'] ?? 0);
  return entries.find((one) => one.id === id);
}
