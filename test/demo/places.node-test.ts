import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EnvironmentClient, HttpError } from 'plugin-editor/server.js';
import { ENVIRONMENT } from '../../demo/vendor/accounts.ts';
import { setUpConnections } from '../../demo/vendor/places/connected.ts';
import { places, setUpPlaces } from '../../demo/vendor/places/places.ts';
import type { VersionRuns, WorkView } from '../../demo/vendor/wire.ts';
import { deployPlugin, editorTokenOf } from './deploy.ts';
import { shareBackEnd } from './shared-demo.ts';
import { targetOf } from './vendor-setup.ts';

interface Template {
  contents: string;
  tests: { name: string; payload: string; expected?: string }[];
}

const demo = await shareBackEnd();

describe('the places that customers fill with plugins', () => {
  const look = async (name: string, user = 'ada') => {
    const body = { ident: 'com.example.customer-7', name };
    return demo.sendRequest('/plugins/work', { method: 'POST', body, cookie: await demo.signIn(user) });
  };
  const work = async (name: string) => ((await (await look(name)).json()) as WorkView).cases;
  const deploy = (contents: string, name: string, options = {}) =>
    deployPlugin(demo, 'ada', contents, { target: targetOf('customer-7', name), ...options });
  const get = async (path: string, token: string) =>
    (await fetch(`${demo.service}api/${path}`, { headers: { authorization: `Bearer ${token}` } })).json();

  test('are namespaces with types at the plugin service, and setting them up again changes nothing', async () => {
    const service = await demo.environmentClient();
    const list = () => service.listNamespaces({ environment: ENVIRONMENT });
    const first = await list();
    assert.deepEqual(
      first.namespaces.map(({ namespace }) => namespace),
      ['mail', 'orders', 'prices', 'rates', 'stock'],
    );
    await setUpPlaces(service, ENVIRONMENT);
    assert.deepEqual(await list(), first);
  });

  for (const { namespace, plugin, cases } of places) {
    test(`have a template for ${namespace} that passes its own tests, and with which Larder works`, async () => {
      const undeployed = await work(plugin);
      assert.equal(undeployed.length, cases.length);
      for (const { shown, failure, without } of undeployed) assert.ok(without && !shown && !failure);
      const target = targetOf('customer-7', plugin);
      const token = await editorTokenOf(demo, 'ada', target);
      const query = `${plugin}?namespace=${namespace}`;
      const typescript = (await get(`v2/template/typescript/${query}`, token)) as Template;
      const { contents, tests } = (await get(`v2/template/javascript/${query}`, token)) as Template;
      assert.match(typescript.contents, /: Input\): Output =>/);
      assert.equal(contents, typescript.contents.replace(': Input', '').replace(': Output', ''));
      await deploy(contents, plugin);

      for (const { name, payload, expected } of tests) {
        const response = await fetch(`${demo.service}api/v1/test/${target.ident}/${namespace}/${plugin}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
          body: payload,
        });
        const { result } = (await response.json()) as { result: string };
        assert.deepEqual(JSON.parse(result), JSON.parse(expected ?? ''), name);
      }
      const shown = await work(plugin);
      assert.equal(shown.length, cases.length);
      for (const { shown: text, failure } of shown) {
        assert.equal(failure, undefined);
        assert.ok(text?.text);
      }
    });
  }

  test('let Larder do without an output that does not fit, and report where', async () => {
    await deploy(
      'export const run = ({ count }) => ({ unitPrice: count > 5 ? /** @type {any} */ ("free") : 100 });\n',
      'price-rule',
    );
    const [few, dozen] = await work('price-rule');
    assert.deepEqual(few?.shown, { text: '€ 1.00' });
    assert.deepEqual(
      [dozen?.shown, dozen?.failure?.code, dozen?.failure?.path, dozen?.without],
      [undefined, 'invalid-output', '/unitPrice', '€ 2.10'],
    );
  });

  test('show what the live version does while a rollout gives another one nearly all runs', async () => {
    await deploy('export const run = () => ({ unitPrice: 100 });\n', 'price-rule');
    const rollout = { percent: 99 };
    await deploy('export const run = () => ({ unitPrice: 200 });\n', 'price-rule', { rollout });
    const shown = (await work('price-rule')).map((one) => one.shown?.text);
    assert.deepEqual(new Set(shown), new Set(['€ 1.00']));
  });

  test('have an input that does not fit refused by the plugin service, with its place', async () => {
    const body = {
      ident: 'com.example.customer-7',
      name: 'price-rule',
      input: '{"product":{"sku":"B-104"}}',
      which: 'live',
    };
    const response = await demo.sendRequest('/plugins/runs', {
      method: 'POST',
      body,
      cookie: await demo.signIn('ada'),
    });
    const [run] = ((await response.json()) as VersionRuns).runs;
    assert.equal(run?.failure?.code, 'invalid-input');
    assert.equal(typeof run.failure.path, 'string');
  });

  test('show what Larder does with a plugin only to people who may run it', async () => {
    assert.equal((await look('price-rule', 'dan')).status, 403);
    assert.equal((await look('price-rule', 'cleo')).status, 403);
    // A plugin of the customer's own has no place in Larder.
    assert.deepEqual(await work('weigh-basket'), []);
  });
});

test('a start on other ports reports which addresses have changed for plugins', async () => {
  const kept = new Map<string, object>();
  const service = {
    async getNamespace({ namespace }: { namespace: string }) {
      return kept.get(namespace) ?? Promise.reject(new HttpError('No namespace', 404));
    },
    setNamespace: async ({ namespace }: { namespace: string }, details: object) =>
      void kept.set(namespace, details),
    setConnectionValue: async () => undefined,
  } as unknown as EnvironmentClient;
  const start = (ratesPort: number) =>
    setUpConnections(service, ENVIRONMENT, {
      larder: 'http://127.0.0.1:5173',
      rates: { origin: `http://127.0.0.1:${ratesPort}`, key: 'k' },
    });
  for (let i = 0; i < 2; i++) assert.deepEqual(await start(5174), []);
  const notice =
    'Plugins of the namespace rates that call http://127.0.0.1:5174 have to call http://127.0.0.1:6174 now.';
  assert.deepEqual(await start(6174), [notice]);
});
