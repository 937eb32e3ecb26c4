import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PluginFeaturesElement } from '../../src/plugin-features.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';

/** Renders an element as a server would. */
class Rendered extends PluginFeaturesElement {
  run(): string {
    this.willUpdate();
    return JSON.stringify(this.render());
  }
}
customElements.define('rendered-features', Rendered);

test('a server renders the loading view without a request', async () => {
  await using server = await startScriptedServer({ path: '*', json: { features: [], languages: [] } });
  const element = new Rendered();
  element.builder = server.url();
  element.selectable = true;
  element.value = 'typescript';
  assert.match(element.run(), /Loading languages/);
  assert.equal(element.state, 'loading');
  assert.equal(element.value, 'typescript');
  await fetch(server.url('/later'));
  const paths = (await server.requests()).map(({ path }) => path);
  assert.deepEqual(paths, ['/later']);
});

test('a server renders nothing without a builder', () => {
  const element = new Rendered();
  assert.doesNotMatch(element.run(), /Loading/);
  assert.equal(element.state, 'idle');
});

test('importing the definition twice changes nothing', async () => {
  const first = customElements.get('plugin-features');
  const again = '../../src/plugin-features.ts?again';
  await import(again);
  assert.equal(customElements.get('plugin-features'), first);
});
