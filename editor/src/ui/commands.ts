import { texts } from '../locales/locale.ts';

/** A key with Control, or on a Mac with Command. */
export interface Shortcut {
  key: string;
  shift?: boolean;
  /** With Alt, not Control. The key must be a letter. */
  alt?: boolean;
  /** With Control on a Mac too. */
  control?: boolean;
  /** Without Control: a function key. */
  alone?: boolean;
}

/** A command of the user: by a key, in the menu, in the palette, and for some by a button. */
export interface Command {
  id: string;
  label: string;
  /** More words by which the palette finds it. */
  keywords?: string;
  /** Commands with the same number stand together in the menu. */
  group?: number;
  /** Its name on a button, where that is shorter. */
  short?: string;
  shortcut?: Shortcut;
  /** A second key. */
  alternative?: Shortcut;
  /** Its key works in the text only: anywhere else it is the browser's. */
  inText?: boolean;
  /** With Control its key is one of Vim's, while these are used and are in normal mode. */
  isVimKey?: boolean;
  /** CodeMirror handles its key. */
  ownKey?: boolean;
  run: () => void;
  /** Whether it is shown: the service supports it and the token permits it. Default: always. */
  offered?: () => boolean;
  /** Whether it can run now. Default: always. */
  enabled?: () => boolean;
}

/** Whether a command is shown: in the menu, in the palette, or as a button. */
export const isOffered = ({ offered }: Command): boolean => offered?.() ?? true;

/** Whether a command can run now. */
export const isEnabled = ({ enabled }: Command): boolean => enabled?.() ?? true;

const onMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? '');

const nameOf = (key: string, space: string) =>
  key === ' ' ? space : key.length === 1 ? key.toUpperCase() : key;

/** A shortcut with the names that keys have on the user's keyboard: `Ctrl+S`, `Strg+S`, `⌘S`. */
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

/** A shortcut as `aria-keyshortcuts` has it: `Control+S Meta+S`. */
export function shortcutAria({ key, shift, alt, control, alone }: Shortcut): string {
  const rest = [...(shift ? ['Shift'] : []), nameOf(key, 'Space')].join('+');
  if (alone) return rest;
  if (alt) return `Alt+${rest}`;
  return control ? `Control+${rest}` : `Control+${rest} Meta+${rest}`;
}

/** A letter of another script than the Latin one. */
const FOREIGN_LETTER = /^[^\p{Script=Latin}\p{Script=Common}]$/u;

/**
 * Whether an event is this key. A letter is found by its place with Alt, because Option on a Mac makes another one of it, and on
 * keyboards without Latin letters.
 */
export function isShortcut(
  event: Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>,
  { key, shift = false, alt = false, control = false, alone = false }: Shortcut,
): boolean {
  const isByPlace = alt || FOREIGN_LETTER.test(event.key);
  const isKey = isByPlace
    ? event.code === `Key${key.toUpperCase()}`
    : event.key.toLowerCase() === key.toLowerCase();
  const hasControl = event.ctrlKey || (event.metaKey && !control);
  return isKey && event.shiftKey === shift && event.altKey === alt && hasControl === !(alone || alt);
}

/**
 * Whether a key belongs to what composes a character. Safari ends the composition before the key that confirms it, and marks that key
 * by `keyCode` alone.
 */
export const isComposing = (event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean =>
  event.isComposing || event.keyCode === 229;

/**
 * Runs the command of a key, and returns whether there is one. The browser does not get the key even while the command is
 * disabled: a second `Ctrl+B` must not open the bookmarks.
 */
export function runByKey(event: KeyboardEvent, commands: readonly Command[]): boolean {
  const command = commands.find(
    ({ shortcut, alternative, ownKey }) =>
      !ownKey && [shortcut, alternative].some((one) => one && isShortcut(event, one)),
  );
  if (!command || !isOffered(command)) return false;
  // The fields for JSON are CodeMirror editors, too, but not the plugin's text.
  if (command.inText && !(event.target as Element | null)?.closest('.text .cm-content')) return false;
  if (command.isVimKey && event.ctrlKey && (event.target as Element | null)?.closest('.cm-vimMode'))
    return false;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat) runCommand(command);
  return true;
}

/** Runs a command, if it can run now. */
export function runCommand(command: Command): void {
  if (isEnabled(command)) command.run();
}
