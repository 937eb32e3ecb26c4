import { texts } from '../locales/locale.ts';
import type { Icon } from './icon.ts';

/** A key with Control, or on a Mac with Command. */
export interface Shortcut {
  key: string;
  shift?: boolean;
  /** With Alt in place of Control. The key is a letter then, found by its place: on a Mac, Option makes another one of it. */
  alt?: boolean;
  /** With Control on a Mac too. */
  control?: boolean;
  /** A function key, which goes without. */
  alone?: boolean;
}

/** Something that the user can have done, in each of the ways there are. */
export interface Command {
  id: string;
  label: string;
  /** Those of one number stand together in the menu, apart from others. */
  group?: number;
  /** Its name on a button, where it has one, and what goes before that. */
  short?: string;
  icon?: Icon;
  shortcut?: Shortcut;
  /** A second key. */
  alternative?: Shortcut;
  /** Its key is for the text: anywhere else it is the browser's. */
  inText?: boolean;
  /** With Control its key is one of Vim's, while these are used and are in normal mode. */
  isVimKey?: boolean;
  /** Its key is one of the text's own, which sees to it by itself. */
  ownKey?: boolean;
  run: () => void;
  /** Whether the builder supports it; always, where it is not said. */
  offered?: () => boolean;
  /** Whether it can be done now. */
  enabled?: () => boolean;
}

const onMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '');

const nameOf = (key: string, space: string) =>
  key === ' ' ? space : key.length === 1 ? key.toUpperCase() : key;

/** A shortcut for people, by the names on their keyboards: `Ctrl+S`, `Strg+S`, `⌘S`. */
export function shortcutText({ key, shift, alt, control, alone }: Shortcut, mac = onMac): string {
  const { keys } = texts();
  const name = nameOf(key, keys.space);
  if (mac) {
    const modifier = alone ? '' : alt ? '⌥' : control ? '⌃' : '⌘';
    return `${shift ? '⇧' : ''}${modifier}${name === 'Enter' ? '↩' : name}`;
  }
  const shifted = shift ? [keys.shift] : [];
  const modifiers = alone ? shifted : alt ? [...shifted, keys.alt] : [keys.control, ...shifted];
  return [...modifiers, name === 'Enter' ? keys.enter : name].join('+');
}

/** The same for `aria-keyshortcuts`. */
export function shortcutAria({ key, shift, alt, control, alone }: Shortcut): string {
  const rest = [...(shift ? ['Shift'] : []), nameOf(key, 'Space')].join('+');
  if (alone) return rest;
  if (alt) return `Alt+${rest}`;
  return control ? `Control+${rest}` : `Control+${rest} Meta+${rest}`;
}

/** Whether an event is this key. */
export function isShortcut(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>,
  { key, shift = false, alt = false, control = false, alone = false }: Shortcut,
): boolean {
  const isKey = alt
    ? event.code === `Key${key.toUpperCase()}`
    : event.key.toLowerCase() === key.toLowerCase();
  const hasControl = event.ctrlKey || (event.metaKey && !control);
  return isKey && event.shiftKey === shift && event.altKey === alt && hasControl === !(alone || alt);
}

/**
 * Carries out the command that a key means. Its key is taken from the browser also where the command cannot be done
 * now: pressed twice, `Ctrl+B` must not open the bookmarks.
 */
export function runByKey(event: KeyboardEvent, commands: readonly Command[]): boolean {
  const command = commands.find(
    ({ shortcut, alternative, ownKey }) =>
      !ownKey && [shortcut, alternative].some((one) => one && isShortcut(event, one)),
  );
  if (!command || command.offered?.() === false) return false;
  // A field for a value is an editor of text too, with keys of its own.
  if (command.inText && !(event.target as Element | null)?.closest('.text .cm-content')) return false;
  if (command.isVimKey && event.ctrlKey && (event.target as Element | null)?.closest('.cm-vimMode'))
    return false;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat) runCommand(command);
  return true;
}

export function runCommand(command: Command): void {
  if (command.enabled?.() ?? true) command.run();
}
