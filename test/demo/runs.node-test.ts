import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENVIRONMENT } from '../../demo/vendor/accounts.ts';
import { until } from '../support/until.ts';
import { deployPlugin } from './deploy.ts';
import type { PluginDetails, VersionRuns } from '../../demo/vendor/wire.ts';
import { shareBackEnd } from './shared-demo.ts';
import { targetOf } from './vendor-setup.ts';

const demo = await shareBackEnd();

describe('running what is deployed', () => {
  // A plugin that a customer added: it takes and gives text.
  const target = targetOf('customer-7', 'weigh-basket');
  const deploy = (contents: string) => deployPlugin(demo, 'bram', contents, { target });
  const run = async (
    user: string,
    tenant: string,
    input: unknown,
    { headers, which = 'all' }: { headers?: Record<string, string>; which?: string } = {},
  ) => {
    const body = { ident: `com.example.${tenant}`, name: 'weigh-basket', input, which };
    return demo.sendRequest('/plugins/runs', {
      method: 'POST',
      ...(headers && { headers }),
      body,
      cookie: await demo.signIn(user),
    });
  };
  const runsOf = async (response: Response) => (await response.json()) as VersionRuns;

  test('returns the answer of every version, newest first, and reports one that fails', async () => {
    assert.deepEqual(await runsOf(await run('ada', 'customer-7', 'Ada')), { runs: [], more: false });
    await deploy('export const run = (input) => `one ${input}`;\n');
    assert.equal((await runsOf(await run('ada', 'customer-7', 'Ada'))).runs.length, 1);
    await deploy('export const run = () => {\n  console.log("before"); throw new Error("no flour"); };\n');
    await deploy('export const run = (input) => `three ${input}`;\n');
    const response = await run('ada', 'customer-7', 'Ada');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const { runs, more } = await runsOf(response);
    assert.deepEqual(
      runs.map(({ version, output, failure }) => [version, output ?? failure?.code]),
      [
        ['v1.0.2', 'three Ada'],
        ['v1.0.1', 'plugin-error'],
        ['v1.0.0', 'one Ada'],
      ],
    );
    assert.equal(more, false);
    // In the plugin's own words, with the line and what it logged before.
    const { message = '', logs } = runs[1]?.failure ?? {};
    assert.match(message, /^Error: no flour .*plugin\.js:2:\d+/);
    assert.equal(logs?.length, 1);
    assert.match(logs?.[0] ?? '', /before/);
    for (const { took } of runs) assert.ok(took >= 0);
  });

  test('runs the live version when none is named, and says which it is', async () => {
    const [only, ...others] = (await runsOf(await run('ada', 'customer-7', 'Ada', { which: 'live' }))).runs;
    assert.deepEqual([only?.version, only?.output, others], ['v1.0.2', 'three Ada', []]);
    const nothing = await runsOf(await run('bram', 'customer-8', 'Ada', { which: 'live' }));
    assert.deepEqual(nothing, { runs: [], more: false });
  });

  test('has the audit log of the plugin service name who read the runs', async () => {
    const cookie = await demo.signIn('ada');
    const query = 'ident=com.example.customer-7&name=weigh-basket';
    // Runs are recorded a moment after their answers, and only who was given a record is noted.
    await until('the runs are listed', async () => {
      const response = await demo.sendRequest(`/plugins?${query}`, { cookie });
      assert.equal(response.status, 200);
      return ((await response.json()) as PluginDetails).runs.length > 0;
    });
    const service = await demo.environmentClient();
    const { entries } = await service.listAudit({ environment: ENVIRONMENT }, { action: 'runs.read' });
    const reads = entries.filter(({ ident, name }) => ident === target.ident && name === target.fn);
    assert.deepEqual(new Set(reads.map(({ by }) => by.actor)), new Set(['ada']));
  });

  test('is only for the tenant’s own people, on the vendor’s own pages', async () => {
    assert.equal((await run('cleo', 'customer-7', 'x')).status, 403);
    assert.equal((await run('dan', 'customer-7', 'x')).status, 403);
    assert.equal((await run('mia', 'customer-7', 'x')).status, 403);
    assert.equal(
      (await run('ada', 'customer-7', 'x', { headers: { 'sec-fetch-site': 'cross-site' } })).status,
      403,
    );
    assert.equal((await run('ada', 'customer-7', 'x', { headers: {} })).status, 403);
    const body = { ident: 'com.example.customer-7', name: 'weigh-basket', input: 'x' };
    assert.equal((await demo.sendRequest('/plugins/runs', { method: 'POST', body })).status, 401);
  });

  test('refuses in plain words what cannot be run', async () => {
    assert.equal((await run('ada', 'customer-7', 7)).status, 400);
    assert.equal((await run('ada', 'customer-7', 'x', { which: 'some' })).status, 400);
    assert.equal((await run('ada', 'customer-7', '\ud800')).status, 400);
    assert.equal((await run('ada', 'customer-7', 'x'.repeat(70_000))).status, 413);
  });
});
