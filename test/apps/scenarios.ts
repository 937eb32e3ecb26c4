import assert from 'node:assert/strict';
import type { Browser } from 'puppeteer-core';

import type { Rule } from '../support/scripted-server-rules.ts';
import { type Place, type Visit, visit } from './visit.ts';

/** Runs an app with an editor that uses the frame protocol, in the order in which a user would see it. */
export async function useProtocolEditor(
  browser: Browser,
  app: string,
  files: Rule[],
  query?: Record<string, string>,
): Promise<void> {
  await using seen = await visit(browser, files, 'speaking', { query });
  const { page, shows, editorShows } = seen;

  await shows('#events', 'ready:true dirty:true dirty:false deploy:v1.0.0');
  await editorShows('first none t1');
  await expectOneOfEach(seen, app);

  await page.locator('plugin-features >>> input[value=typescript]').click();
  await shows('#language', 'typescript');
  await editorShows('first typescript t1');

  await page.locator('#javascript').click();
  await shows('#language', 'javascript');
  await page.waitForSelector('plugin-features >>> input[value=javascript]:checked');
  await editorShows('first javascript t1');

  await page.locator('#other').click();
  await editorShows('other javascript t2');
  const requests = await seen.tokenRequests();
  assert.deepEqual(
    requests.map(({ body, headers }) => [(JSON.parse(body) as { fn: string }).fn, headers['x-app']]),
    [
      ['first', app],
      ['other', app],
    ],
  );
  assert.equal(await seen.frameCount(), 1);
  assert.equal((await seen.service.requests({ path: '/speaking' })).length, 1);
}

/** An editor without the protocol gets its token in its URL, and all that is known is that it loaded. */
export async function useSilentEditor(
  browser: Browser,
  app: string,
  files: Rule[],
  query?: Record<string, string>,
): Promise<void> {
  await using seen = await visit(browser, files, 'silent', { query });
  await seen.shows('#events', 'ready:false');
  await seen.editorShows('silent');
  await expectOneOfEach(seen, app);
  const [opened] = await seen.service.requests({ path: '/silent', count: 1 });
  assert.equal(opened?.query['token'], 't1');
}

/** A page that a server rendered: no request is sent by the server, and each one once by the browser. */
export async function hydrateFromServer(
  browser: Browser,
  app: string,
  files: Rule[],
  render: (place: Place) => Promise<string>,
): Promise<void> {
  const prepare = async (place: Place): Promise<Rule[]> => {
    const inside = await render(place);
    assert.match(inside, /<plugin-editor[^>]* ident="com\.example\.acme"/);
    assert.match(inside, /<plugin-features[^>]* selectable/);
    assert.doesNotMatch(inside, /<iframe|token=|t1/);
    const page = files.find(({ path }) => path === '/index.html');
    assert.ok(page?.body?.includes('<!--app-->'));
    return [{ ...page, body: page.body.replace('<!--app-->', () => inside) }];
  };
  await using seen = await visit(browser, files, 'speaking', { prepare });
  assert.equal(seen.requestsBefore, 0);

  await seen.shows('#events', 'ready:true');
  await seen.editorShows('first typescript t1');
  await seen.page.waitForSelector('plugin-features >>> input[value=typescript]:checked');
  await seen.page.locator('plugin-features >>> input[value=javascript]').click();
  await seen.shows('#language', 'javascript');
  await expectOneOfEach(seen, app);
}

async function expectOneOfEach(seen: Visit, app: string): Promise<void> {
  const requests = await seen.tokenRequests();
  assert.deepEqual(
    requests.map(({ headers }) => headers['x-app']),
    [app],
  );
  const features = await seen.service.requests({ path: '/api/v1/features', count: 1 });
  assert.equal(features.length, 1, 'requests for what the builder can do');
  assert.equal(await seen.frameCount(), 1);
}

/** Unmounts and mounts the component during its first token request, which is aborted, and expects one of everything. */
export async function remountWhileLoading(browser: Browser, app: string, files: Rule[]): Promise<void> {
  const prepare = (): Promise<Rule[]> =>
    Promise.resolve([{ path: '/token', times: 1, delay: 'hang', json: { token: 'late' } }]);
  await using seen = await visit(browser, files, 'speaking', { prepare });
  await seen.vendor.requests({ path: '/token', count: 1 });
  await seen.page.locator('#remount').click();
  await seen.vendor.aborted({ path: '/token', count: 1 });

  await seen.shows('#events', 'ready:true dirty:true dirty:false deploy:v1.0.0');
  await seen.editorShows('first none t1');
  assert.deepEqual(
    (await seen.tokenRequests()).map(({ aborted, headers }) => [aborted, headers['x-app']]),
    [
      [true, app],
      [false, app],
    ],
  );
  assert.equal(await seen.frameCount(), 1);
}
