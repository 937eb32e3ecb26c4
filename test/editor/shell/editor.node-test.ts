import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pressKeys } from '../../support/press-keys.ts';
import { startEditorService } from '../harness.ts';
import { editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

describe('the editor', () => {
  const withEditor = editorFixture();

  test('creates a new plugin from its template, saves edits by itself, and shows them the next time', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const first = await open();
      await first.untilOpen();
      await first.untilStatus('New plugin, not saved yet');
      assert.match(await first.text(), new RegExp(`name: "${target.fn}"`));
      assert.equal(await service.draft(target), undefined);

      await first.type('// my edit');
      await first.untilStatus('Saved');
      const draft = await saved('// my edit');
      assert.equal(draft?.lang, 'typescript');
      assert.equal(draft?.tests?.length, 2);
      assert.deepEqual(await first.kept(), []);

      const again = await open();
      await again.untilOpen();
      await again.untilStatus('All changes saved');
      assert.match(await again.text(), /\/\/ my edit/);
    }));

  test('removes the token from the address and the history, and sends it only in the header', () =>
    withEditor(async ({ service, target, openNew }) => {
      const token = await service.token(target);
      const from = service.seen.length;
      const { page, untilOpen } = await openNew(undefined, await service.url(target, token));
      await untilOpen();
      const address = await page.evaluate(() => location.href);
      assert.equal(address.includes('token'), false);
      assert.match(address, /builder=.*ident=.*fn=/);
      assert.equal(await page.evaluate(() => history.length), 2);
      const client = await page.createCDPSession();
      const { entries } = await client.send('Page.getNavigationHistory');
      assert.equal(
        entries.some(({ url }) => url.includes(token)),
        false,
      );
      const seen = service.seen.slice(from);
      assert.ok(seen.length > 4);
      assert.equal(seen.filter(({ path }) => path.includes(token)).length, 1);
      assert.deepEqual(
        seen.map(({ referrer }) => referrer),
        seen.map(() => null),
      );
      const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
      assert.equal(kept.includes(token), false);

      await page.reload();
      await page.waitForFunction(() =>
        document.body.innerText.includes('The editor was opened without a token; open it again'),
      );
    }));

  test('sends neither draft nor kept text to the builder that a crafted address names', () =>
    withEditor(async ({ service, target, open }) => {
      const other = await startEditorService({ editor: false });
      try {
        const kept = { version: 1, at: Date.now(), source: { contents: 'kept text', lang: 'javascript' } };
        const place = [service.origin, 'com.acme.t1', 'default', target.fn];
        const key = `plugin-editor:unsaved:${JSON.stringify(place)}:crashed`;
        const first = await open(`${service.origin}/editor/`);
        await first.page.evaluate((...entry) => localStorage.setItem(...entry), key, JSON.stringify(kept));
        const stranger = new URL(other.origin);
        const own = new URL(service.origin);
        const seen = service.seen.length;
        for (const builder of [
          other.origin,
          `${other.origin}/${service.origin}`,
          `${other.origin}/?${service.origin}`,
          `${other.origin}#${service.origin}`,
          `${stranger.protocol}//${own.host}@${stranger.host}`,
          `${stranger.protocol}//${own.host}\\@${stranger.host}`,
          `${own.origin}/../..//${stranger.host}`,
          `https://${own.host}`,
        ]) {
          const url = new URL(await service.url(target));
          url.searchParams.set('builder', builder);
          await first.page.goto(url.href);
          await first.page.waitForSelector('.message h1');
          assert.ok(!(await first.page.content()).includes('kept text'), builder);
          assert.deepEqual(other.seen, [], builder);
        }
        // The page of the test before may save its own plugin on its way out.
        const isOfOther = (path: string) => (/\/(plugin-\d+)/.exec(path)?.[1] ?? target.fn) !== target.fn;
        const sent = service.seen
          .slice(seen)
          .filter(({ path }) => path.startsWith('/api/') && !isOfOther(path));
        assert.deepEqual(sent, []);
        assert.deepEqual(
          (await first.kept()).map((one) => one.key),
          [key],
        );
        // To its own builder the same address opens the plugin, and offers what was kept.
        await first.page.goto(await service.url(target));
        await first.until('This browser kept changes');
      } finally {
        await other.close();
      }
    }));

  test('keeps unsaved work in this browser while the service is stopped, and saves it when it is back', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const page = await open();
      await page.untilOpen();
      await service.stop();
      await page.type('// offline 1');
      await page.untilStatus('Not saved: connection lost, retrying');
      await page.type('// offline 2');
      const [copy] = await eventually(page.kept, ([one]) => one?.value.includes('// offline 2') ?? false);
      for (const part of [service.origin, 'com.acme.t1', 'default', String(target.fn)]) {
        assert.ok(copy?.key.includes(part), part);
      }
      await service.restart();
      await page.untilStatus('Saved');
      await saved('// offline 2');
      assert.deepEqual(await page.kept(), []);
    }));

  test('saves at once by Ctrl+S, from the tests too, which are part of the record', () =>
    withEditor(async ({ service, target, open }) => {
      const { page, press, untilOpen, untilStatus, until } = await open();
      await untilOpen();
      await press('Add test');
      await page.keyboard.type('My test');
      await page.keyboard.press('Tab');
      await page.keyboard.type('What it is for');
      await page.keyboard.press('Tab');
      await page.keyboard.type('{"n":1}');
      await pressKeys(page, 'Control', 's');
      await untilStatus('Saved');
      const draft = await service.draft(target);
      assert.deepEqual(draft?.tests?.[2], {
        name: 'My test',
        description: 'What it is for',
        payload: '{"n":1}',
      });
      await until('My test');
    }));

  test('tries again when the service fails while opening', () =>
    withEditor(async ({ service, open }) => {
      service.script.respond = (request) =>
        new URL(request.url).pathname.startsWith('/api/') ? new Response('', { status: 500 }) : undefined;
      const page = await open();
      await page.until('The plugin service has a problem');
      service.script.respond = undefined;
      await page.press('Try again');
      await page.untilOpen();
    }));

  test('loads nothing anew for a script that is not its own, nor for any once it is there', () =>
    withEditor(async ({ openNew }) => {
      const { page, untilOpen } = await openNew((empty) =>
        empty.evaluateOnNewDocument(() => {
          const fail = (src: string) => {
            // The page's policy forbids it to set the address of a script.
            const script = Object.defineProperty(document.createElement('script'), 'src', { value: src });
            document.head.append(script);
            const fetch = window.fetch.bind(window);
            window.fetch = (...args) => {
              sessionStorage.setItem('requested', 'yes');
              return fetch(...args);
            };
            script.dispatchEvent(new Event('error'));
            window.fetch = fetch;
          };
          addEventListener('DOMContentLoaded', () => fail('https://extension.example/x.js'));
          addEventListener('load', () =>
            setTimeout(() => {
              fail(new URL('assets/x.js', location.href).href);
              document.documentElement.dataset['failed'] = '';
            }),
          );
        }),
      );
      await untilOpen();
      await page.waitForSelector('[data-failed]');
      assert.equal(await page.evaluate(() => sessionStorage.getItem('requested')), null);
    }));

  test('reports that the editor itself cannot be loaded', () =>
    withEditor(async ({ service, openNew }) => {
      service.script.respond = (request) =>
        /assets\/page-/.test(request.url) ? new Response('', { status: 503 }) : undefined;
      const page = await openNew();
      await page.until('The editor could not be loaded');
      assert.equal((await page.page.evaluate(() => location.href)).includes('token'), false);
      assert.deepEqual(page.problems, []);
    }));
});
