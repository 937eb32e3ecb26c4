import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Command,
  isShortcut,
  runByKey,
  shortcutAria,
  shortcutText,
} from '../../../editor/src/ui/commands.ts';

const key = (name: string, more: Partial<KeyboardEvent> = {}) => {
  const done: string[] = [];
  const event = {
    key: name,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    repeat: false,
    preventDefault: () => done.push('prevented'),
    stopPropagation: () => {},
    ...more,
  } as unknown as KeyboardEvent;
  return { event, done };
};

test('a shortcut is written as users of the machine write it', () => {
  assert.equal(shortcutText({ key: 'd', shift: true }, false), 'Ctrl+Shift+D');
  assert.equal(shortcutText({ key: 'd', shift: true }, true), '⇧⌘D');
  assert.equal(shortcutText({ key: 'Enter' }, true), '⌘↩');
  assert.equal(shortcutText({ key: 'F8', shift: true, alone: true }, false), 'Shift+F8');
  assert.equal(shortcutAria({ key: 's' }), 'Control+S Meta+S');
  assert.equal(shortcutAria({ key: 'F8', shift: true, alone: true }), 'Shift+F8');
});

test('a key matches a shortcut with exactly its modifiers', () => {
  const deploy = { key: 'd', shift: true };
  assert.equal(isShortcut(key('D', { ctrlKey: true, shiftKey: true }).event, deploy), true);
  assert.equal(isShortcut(key('D', { metaKey: true, shiftKey: true }).event, deploy), true);
  assert.equal(isShortcut(key('d', { ctrlKey: true }).event, deploy), false);
  assert.equal(isShortcut(key('D', { ctrlKey: true, shiftKey: true, altKey: true }).event, deploy), false);
  assert.equal(isShortcut(key('F8').event, { key: 'F8', alone: true }), true);
  assert.equal(isShortcut(key('F8', { ctrlKey: true }).event, { key: 'F8', alone: true }), false);
});

test('a letter is found by its place on keyboards without Latin letters, and nowhere else', () => {
  const save = { key: 's' };
  const press = (name: string, code: string) => isShortcut(key(name, { code, ctrlKey: true }).event, save);
  for (const letter of ['ы', 'σ', 'ד', 'س', 'ㄴ']) assert.equal(press(letter, 'KeyS'), true, letter);
  assert.equal(press('с', 'KeyC'), false);
  for (const letter of ['o', 'ş', '.', 'Enter']) assert.equal(press(letter, 'KeyS'), false, letter);
  assert.equal(press('s', 'KeyO'), true);
});

test('the keys of Vim keep their meaning in the text in normal mode, also with Control', () => {
  const ran: string[] = [];
  const commands: Command[] = [
    { id: 'b', label: 'B', shortcut: { key: 'b' }, isVimKey: true, run: () => ran.push('b') },
    { id: 's', label: 'S', shortcut: { key: 's' }, run: () => ran.push('s') },
  ];
  const within = (isVim: boolean) => ({ closest: () => (isVim ? {} : null) }) as unknown as EventTarget;
  const press = (name: string, more: Partial<KeyboardEvent>) => runByKey(key(name, more).event, commands);
  assert.equal(press('b', { ctrlKey: true, target: within(true) }), false);
  assert.equal(press('b', { metaKey: true, target: within(true) }), true);
  assert.equal(press('b', { ctrlKey: true, target: within(false) }), true);
  assert.equal(press('s', { ctrlKey: true, target: within(true) }), true);
  assert.deepEqual(ran, ['b', 'b', 's']);
});

test('a disabled command keeps its key, and one that is not offered leaves it to the browser', () => {
  const ran: string[] = [];
  const commands: Command[] = [
    {
      id: 'a',
      label: 'A',
      shortcut: { key: 'b' },
      run: () => ran.push('a'),
      enabled: () => ran.length === 0,
    },
    { id: 't', label: 'T', shortcut: { key: 'Enter' }, run: () => ran.push('t'), offered: () => false },
  ];
  const press = (name: string, more: Partial<KeyboardEvent> = { ctrlKey: true }) => {
    const { event, done } = key(name, more);
    return [runByKey(event, commands), done.length] as const;
  };
  assert.deepEqual(press('b'), [true, 1]);
  assert.deepEqual(press('b'), [true, 1]);
  assert.deepEqual(press('b', { ctrlKey: true, repeat: true }), [true, 1]);
  assert.deepEqual(press('Enter'), [false, 0]);
  assert.deepEqual(press('x'), [false, 0]);
  assert.deepEqual(ran, ['a']);
});
