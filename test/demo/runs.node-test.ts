import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findLast } from '../../demo/vendor/runs.ts';
import type { VersionRuns } from '../../demo/vendor/wire.ts';
import { OWN, setUpVendor, targetOf } from './vendor-setup.ts';

test('the newest version is found with few questions, wherever the search begins', async () => {
  for (const last of [-1, 0, 1, 2, 5, 30, 31, 32, 1000]) {
    for (const known of [-1, 0, last]) {
      if (known > last) continue;
      let asked = 0;
      const found = await findLast(known, async (n) => {
        asked++;
        return n <= last;
      });
      assert.equal(found, last, `${last} from ${known}`);
      assert.ok(asked <= 2 * Math.ceil(Math.log2(last + 3)) + 2, `${asked} questions for ${last}`);
    }
  }
});

describe('running what is deployed', () => {
  let vendor: Awaited<ReturnType<typeof setUpVendor>>;
  before(async () => (vendor = await setUpVendor()));
  after(() => vendor.close());

  /** Builds and deploys, as the editor would. */
  const deploy = async (contents: string, { ident, namespace, fn } = targetOf('customer-7')) => {
    const cookie = await vendor.signIn('bram');
    const body = { ident, namespace, fn };
    const answer = await vendor.ask('/plugins/editor-token', { method: 'POST', body, cookie });
    const { token } = (await answer.json()) as { token: string };
    const post = (path: string, text?: string) =>
      fetch(`http://127.0.0.1:${vendor.servicePort}/api/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
        ...(text === undefined ? {} : { body: text }),
      });
    const place = `${ident}/${namespace}/${fn}`;
    await post(`build/javascript/${place}`, contents);
    assert.equal((await post(`draft/${place}/promote`)).status, 200);
  };
  const run = async (user: string, tenant: string, input: unknown, headers: Record<string, string> = OWN) => {
    const body = { ident: `com.example.${tenant}`, name: 'add-record', input };
    return vendor.ask('/plugins/runs', { method: 'POST', headers, body, cookie: await vendor.signIn(user) });
  };
  const runsOf = async (answer: Response) => (await answer.json()) as VersionRuns;

  test('every version answers as it was deployed, newest first, and one that fails says so', async () => {
    assert.deepEqual(await runsOf(await run('ada', 'customer-7', 'Ada')), { runs: [], older: 0 });
    await deploy('export const run = (input) => `one ${input}`;\n');
    assert.equal((await runsOf(await run('ada', 'customer-7', 'Ada'))).runs.length, 1);
    await deploy('export const run = () => { throw new Error("secret words"); };\n');
    await deploy('export const run = (input) => `three ${input}`;\n');
    const answer = await run('ada', 'customer-7', 'Ada');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { runs, older } = await runsOf(answer);
    assert.deepEqual(
      runs.map(({ version, output, problem }) => [version, output ?? problem]),
      [
        ['v1.0.2', 'three Ada'],
        ['v1.0.1', 'The plugin failed: it threw an error, or met a limit.'],
        ['v1.0.0', 'one Ada'],
      ],
    );
    assert.equal(older, 0);
    for (const { took } of runs) assert.ok(took >= 0);
  });

  test('only the tenant’s own people have its plugins run, from the vendor’s own pages', async () => {
    assert.equal((await run('cleo', 'customer-7', 'x')).status, 403);
    assert.equal((await run('ada', 'customer-7', 'x', { 'sec-fetch-site': 'cross-site' })).status, 403);
    assert.equal((await run('ada', 'customer-7', 'x', {})).status, 403);
    const body = { ident: 'com.example.customer-7', name: 'add-record', input: 'x' };
    assert.equal((await vendor.ask('/plugins/runs', { method: 'POST', body })).status, 401);
  });

  test('what cannot be run is refused in words', async () => {
    assert.equal((await run('ada', 'customer-7', 7)).status, 400);
    assert.equal((await run('ada', 'customer-7', '\ud800')).status, 400);
    assert.equal((await run('ada', 'customer-7', 'x'.repeat(70_000))).status, 413);
  });
});
