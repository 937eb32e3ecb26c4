import { expect, test } from '@playwright/test';
import { routeStandIn } from 'plugin-editor/testing.js';

const editorUrl = 'https://plugins.example.com/editor/';
const tokenEndpoint = '/plugins/editor-token';

test('the editor opens the customer’s plugin', async ({ page }) => {
  const { editor, tokens } = await routeStandIn(page, { editorUrl, tokenEndpoint });
  await page.goto('/');
  await expect(page.frameLocator('plugin-editor iframe').getByRole('status')).toHaveText('Saved');
  expect(await editor.plugin()).toMatchObject({
    ident: 'com.acme.customer-7',
    fn: 'add-record',
    exists: false,
  });
  expect(tokens.requests).toEqual([{ ident: 'com.acme.customer-7', namespace: 'default', fn: 'add-record' }]);
});

test('the page shows that there is unsaved work until it is saved', async ({ page }) => {
  const { editor } = await routeStandIn(page, { editorUrl, tokenEndpoint });
  await page.goto('/');
  // By keyboard, as a user would.
  await page.frameLocator('plugin-editor iframe').getByRole('textbox').fill('export const run = String;');
  await expect(page.getByText('You have unsaved work.')).toBeVisible();
  await editor.save();
  await expect(page.getByText('You have unsaved work.')).toHaveCount(0);
});

test('the page lists what was deployed', async ({ page }) => {
  const { editor } = await routeStandIn(page, { editorUrl, tokenEndpoint });
  await page.goto('/');
  await expect(page.frameLocator('plugin-editor iframe').getByRole('status')).toHaveText('Saved');
  await editor.deploy({ version: 'v1.0.3' });
  await expect(page.getByRole('listitem')).toHaveText(['v1.0.3']);
});

test('a user who may not edit is asked to sign in', async ({ page }) => {
  const { tokens } = await routeStandIn(page, { editorUrl, tokenEndpoint });
  tokens.refuse(401);
  await page.goto('/');
  await expect(page.locator('#problem')).toHaveText('Please sign in again.');
});

test('an editor that cannot open the plugin shows an error', async ({ page }) => {
  await routeStandIn(page, { editorUrl, tokenEndpoint, openError: 'The plugin is locked.' });
  await page.goto('/');
  await expect(page.locator('#problem')).toHaveText('The editor did not open.');
});

test('an expired token is renewed unless that is refused', async ({ page }) => {
  const { editor, tokens } = await routeStandIn(page, { editorUrl, tokenEndpoint });
  await page.goto('/');
  await expect(page.frameLocator('plugin-editor iframe').getByRole('status')).toHaveText('Saved');
  tokens.refuse(403);
  await expect(editor.requestToken()).rejects.toThrow('token-unauthorized');
});

test('an initial source is not shown for a plugin that has a draft', async ({ page }) => {
  const { editor } = await routeStandIn(page, { editorUrl, tokenEndpoint, exists: true });
  await page.goto('/');
  await page.locator('plugin-editor').evaluate((element) => {
    element.initialSource = { contents: 'export const run = String;', lang: 'typescript' };
    element.fn = 'other';
  });
  await expect.poll(async () => (await editor.plugin())?.fn).toBe('other');
  await expect(page.frameLocator('plugin-editor iframe').getByRole('textbox')).toHaveValue('');
});
