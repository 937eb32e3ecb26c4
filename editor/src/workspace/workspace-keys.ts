import type { TestList } from '../tests/test-list.ts';
import type { CommandMenu } from '../ui/command-menu.ts';
import { type Command, runByKey } from '../ui/commands.ts';
import type { Actions } from './actions.ts';
import { focusedPayload } from './test-fields.ts';

export interface WorkspaceKeysOptions {
  commands: readonly Command[];
  menu: CommandMenu;
  tests: TestList;
  actions: Actions;
}

/** Handles a key that was pressed anywhere on the page of an open plugin. */
export function handleWorkspaceKey(event: KeyboardEvent, options: WorkspaceKeysOptions): void {
  const { commands, menu } = options;
  // Under an open dialog the only command is to save: without that, the browser would offer to save the page.
  if (document.querySelector('dialog[open]')) {
    const save = commands.filter(({ id }) => id === 'save');
    runByKey(event, save);
    return;
  }
  if (runFocusedPayload(event, options) || runByKey(event, commands)) return;
  const isMenuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
  // In a field of a form the browser's own menu is of more use: it has spelling and the clipboard.
  if (!isMenuKey || (event.target as Element | null)?.closest('input, textarea')) return;
  event.preventDefault();
  menu.open();
}

/** In the field of a payload, the key that runs all tests runs that payload alone. Returns whether it was that key. */
function runFocusedPayload(event: KeyboardEvent, { tests, actions }: WorkspaceKeysOptions): boolean {
  const focused = focusedPayload(event, tests);
  if (!focused) return false;
  event.preventDefault();
  event.stopPropagation();
  if (event.repeat || !actions.canTest) return true;
  if (focused === 'payload') void actions.testRuns.runPayload();
  else void actions.testRuns.runTests([focused]);
  return true;
}
