import { expect } from 'chai';
import { standInOf, standInTokenEndpoint } from 'plugin-editor/testing.js';
import { showPlugin } from './app/app.js';

let tokens;
beforeEach(() => {
  tokens = standInTokenEndpoint('/plugins/editor-token');
});
afterEach(() => {
  tokens.restore();
  document.body.replaceChildren();
});

/** Shows the application’s page with the stand-in editor, and waits until it is ready. */
async function show() {
  const main = document.body.appendChild(document.createElement('main'));
  const element = showPlugin(main, { editorUrl: '/stand-in-editor/' });
  await new Promise((resolve) => element.addEventListener('plugin-editor-ready', resolve, { once: true }));
  return { main, element, editor: standInOf(element) };
}

it('opens the customer’s plugin', async () => {
  const { editor } = await show();
  expect(await editor.plugin()).to.include({ ident: 'com.acme.customer-7', fn: 'add-record' });
  expect(tokens.requests).to.have.length(1);
});

it('shows that there is unsaved work until it is saved', async () => {
  const { main, element, editor } = await show();
  const dirty = new Promise((resolve) =>
    element.addEventListener('plugin-editor-dirty', resolve, { once: true }),
  );
  await editor.dirty();
  await dirty;
  expect(main.textContent).to.contain('You have unsaved work.');
  await element.save();
  expect(element.dirty).to.equal(false);
  expect(main.textContent).not.to.contain('You have unsaved work.');
});
