import type { Icon } from './icon.ts';

/** A key with Control, or on a Mac with Command. */
export interface Shortcut {
  key: string;
  shift?: boolean;
  /** A function key, which goes without. */
  alone?: boolean;
}

/** Something that the user can have done, in each of the ways there are. */
export interface Command {
  id: string;
  label: string;
  /** Its name on a button, where it has one, and what goes before that. */
  short?: string;
  icon?: Icon;
  shortcut?: Shortcut;
  run: () => void;
  /** Whether the builder supports it; always, where it is not said. */
  offered?: () => boolean;
  /** Whether it can be done now. */
  enabled?: () => boolean;
}

const onMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '');

/** A shortcut for people: `Ctrl+S`, `⌘S`. */
export function shortcutText({ key, shift, alone }: Shortcut, mac = onMac): string {
  const name = key.length === 1 ? key.toUpperCase() : key;
  if (mac) return `${shift ? '⇧' : ''}${alone ? '' : '⌘'}${name === 'Enter' ? '↩' : name}`;
  return [...(alone ? [] : ['Ctrl']), ...(shift ? ['Shift'] : []), name].join('+');
}

/** The same for `aria-keyshortcuts`. */
export function shortcutAria({ key, shift, alone }: Shortcut): string {
  const rest = [...(shift ? ['Shift'] : []), key.length === 1 ? key.toUpperCase() : key].join('+');
  return alone ? rest : `Control+${rest} Meta+${rest}`;
}

/** Whether an event is this key. */
export function isShortcut(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>,
  { key, shift = false, alone = false }: Shortcut,
): boolean {
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    event.shiftKey === shift &&
    !event.altKey &&
    (event.ctrlKey || event.metaKey) === !alone
  );
}

/**
 * Carries out the command that a key means. Its key is taken from the browser also where the command cannot be done
 * now: pressed twice, `Ctrl+B` must not open the bookmarks.
 */
export function runByKey(event: KeyboardEvent, commands: readonly Command[]): boolean {
  const command = commands.find(({ shortcut }) => shortcut && isShortcut(event, shortcut));
  if (!command || command.offered?.() === false) return false;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat) runCommand(command);
  return true;
}

export function runCommand(command: Command): void {
  if (command.enabled?.() ?? true) command.run();
}
