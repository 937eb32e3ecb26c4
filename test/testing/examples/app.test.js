import { standInOf, standInTokenEndpoint } from 'plugin-editor/testing.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { showPlugin } from './app/app.js';

let tokens;
beforeEach(() => {
  tokens = standInTokenEndpoint('/plugins/editor-token');
});
afterEach(() => {
  tokens.restore();
  document.body.replaceChildren();
});

/** Shows the application’s page with the stand-in editor. */
function show() {
  const main = document.body.appendChild(document.createElement('main'));
  const element = showPlugin(main, { editorUrl: '/stand-in-editor/' });
  return { main, element, editor: standInOf(element) };
}

test('the editor opens the customer’s plugin', async () => {
  const { element, editor } = show();
  await expect.poll(() => element.state).toBe('ready');
  expect(await editor.plugin()).toMatchObject({ ident: 'com.acme.customer-7', fn: 'add-record' });
  expect(tokens.requests).toHaveLength(1);
});

test('the page shows that there is unsaved work until it is saved', async () => {
  const { main, element, editor } = show();
  await expect.poll(() => element.state).toBe('ready');
  await editor.dirty();
  await expect.poll(() => main.textContent).toContain('You have unsaved work.');
  await element.save();
  expect(element.dirty).toBe(false);
  // Saving created the draft of a new plugin.
  await expect.poll(() => element.plugin.exists).toBe(true);
  await expect.poll(() => main.textContent).not.toContain('You have unsaved work.');
});

test('the page is told that saving failed', async () => {
  const { element, editor } = show();
  await expect.poll(() => element.state).toBe('ready');
  await editor.refuseSaves('The disk is full.');
  await expect(element.save()).rejects.toMatchObject({ code: 'editor' });
});

test('a user who may not edit is asked to sign in', async () => {
  tokens.refuse(401);
  const { main } = show();
  await expect.poll(() => main.textContent).toContain('Please sign in again.');
});

test('an error of the editor is shown', async () => {
  const { main, element, editor } = show();
  await expect.poll(() => element.state).toBe('ready');
  const onError = vi.fn();
  element.addEventListener('plugin-editor-error', onError);
  await editor.fail('The plugin is locked.');
  await expect.poll(() => onError.mock.calls.length).toBe(1);
  expect(main.textContent).toContain('The editor did not open.');
});
