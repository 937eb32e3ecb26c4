import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BuilderClient } from 'plugin-editor/client.js';
import { connectedPlugins } from '../../demo/vendor/places/connected.ts';
import type { PluginEntry, VersionRuns } from '../../demo/vendor/wire.ts';
import { eventually } from '../support/until.ts';
import { deployPlugin, editorTokenOf, signInAt } from './deploy.ts';
import { shareDemo } from './shared-demo.ts';
import { targetOf } from './vendor-setup.ts';

const demo = await shareDemo();
const [stock, rates] = connectedPlugins as [PluginEntry, PluginEntry];

/** Deploys the template of a plugin, as somebody does who changes nothing. */
async function deployTemplate(fn: string): Promise<string> {
  const target = targetOf('customer-7', fn);
  const token = await editorTokenOf(demo, 'ada', target);
  const response = await fetch(
    `${demo.service}api/v2/template/javascript/${fn}?namespace=${target.namespace}`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  const { contents } = (await response.json()) as { contents: string };
  await deployPlugin(demo, 'ada', contents, { target });
  return contents;
}

test('plugins call the vendor’s API and one with a key, and the records of their runs have what was called', async () => {
  const send = await signInAt(demo.vendor, 'ada');
  for (const { namespace, name, sample, output, path } of [
    { ...stock, output: 'Of C-220 there are only 2.', path: '/api/stock/C-220' },
    { ...rates, output: '$4.86', path: '/latest' },
  ]) {
    const contents = await deployTemplate(name);
    const body = { ident: 'com.example.customer-7', name, input: sample, which: 'live' };
    const { runs } = (await (await send('POST', 'plugins/runs', body)).json()) as VersionRuns;
    assert.equal(runs[0]?.output, output);

    const token = await editorTokenOf(demo, 'ada', targetOf('customer-7', name));
    const builder = new BuilderClient({ baseUrl: demo.service, token });
    const location = { environment: 'com.example', userID: 'customer-7', namespace, pluginName: name };
    // A record is written within a second.
    const records = await eventually(
      async () => (await builder.listRuns(location)).runs,
      ({ length }) => length > 0,
    );
    const { calls = [] } = await builder.getRun(records[0]?.uuid ?? '');
    const [origin = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(contents) ?? [];
    assert.deepEqual(
      calls.map(({ method, url, status }) => [method, url.split('?', 1)[0], status]),
      [['GET', origin + path, 200]],
    );
  }
});

test('the vendor’s API answers no one but plugins', async () => {
  for (const authorization of ['', 'Bearer x.y.z', 'Basic eDp5']) {
    const response = await fetch(`${demo.vendor}api/stock/B-104`, { headers: { authorization } });
    assert.equal(response.status, 401);
  }
});
