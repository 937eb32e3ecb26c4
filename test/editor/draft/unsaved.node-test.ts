import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { editorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

describe('unsaved work in the editor', () => {
  const withEditor = editorFixture();

  test('is offered again after its token has ended, and saved only when restored', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const page = await open();
      await page.untilOpen();
      await page.save();
      await page.untilStatus('Saved');
      service.clock.ahead = 16 * 60_000;
      await page.type('// too late');
      await page.untilStatus('Not saved: your session ended');
      await page.until('Your text is kept here and in this browser');
      assert.match(await page.text(), /too late/);
      await page.page.close();

      const next = await open();
      await next.until('This browser kept changes to this plugin that were not saved');
      await next.untilStatus('All changes saved');
      assert.equal((await next.text()).includes('too late'), false);
      // Another edit saves itself, and the copy goes along with nothing.
      await next.type('// other edit');
      await next.untilStatus('Saved');
      assert.equal((await service.draft(target))?.contents.includes('too late'), false);
      assert.equal((await next.kept()).length, 1);

      await next.press('Restore');
      await saved('// too late');
      await next.until(
        'What this browser kept is in the editor now. The former text is kept in this browser.',
      );
      assert.match(await next.text(), /too late/);
      const [former, ...others] = await eventually(next.kept, (kept) => kept.length === 1);
      assert.match(former?.value ?? '', /other edit/);
      assert.deepEqual(others, []);
      await next.press('Bring the former text back');
      await saved('// other edit');
      await next.until('The former text is here again.');
      const [restored] = await eventually(next.kept, (kept) => kept.length === 1);
      assert.match(restored?.value ?? '', /too late/);
    }));

  test("is offered neither to another plugin's token nor on another plugin's page", () =>
    withEditor(async ({ service, target, open }) => {
      const place = JSON.stringify([service.origin, 'com.acme.t1', 'default', target.fn]);
      const source = { contents: '// mine alone', lang: 'typescript' };
      const copy = JSON.stringify({ version: 1, at: Date.now(), source });
      const { page, until, untilOpen } = await open(service.empty);
      await page.evaluate(
        (...entry) => localStorage.setItem(...entry),
        `plugin-editor:unsaved:${place}:gone`,
        copy,
      );
      const other = { ...target, fn: `${target.fn}-other` };
      const ownUrl = await service.url(target);
      for (const [url, isThere] of [
        [await service.url(target, await service.token(other)), () => until('You cannot edit this plugin')],
        [ownUrl.replace(/token=[^&]*&/, ''), () => until('opened without a token')],
        [await service.url(other), untilOpen],
      ] as const) {
        await page.goto(url);
        await isThere();
        assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /mine alone|Restore/);
      }
      await page.goto(ownUrl);
      await until('This browser kept changes');
    }));

  test('has the user choose where the draft was saved elsewhere, with both texts in view; to put it off loses nothing', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const { page, untilOpen, untilStatus, until, type, save, text, press, kept } = await open();
      await untilOpen();
      await type('// mine');
      await untilStatus('Saved');
      await service.save({ contents: '// theirs', lang: 'typescript' }, target);
      await type(' more');
      await untilStatus('Not saved: changed elsewhere');
      await save();
      await press('Compare and choose');
      await page.waitForSelector('dialog[open]');
      await until('// theirs');
      await until('// mine more');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { hidden: true });
      await untilStatus('Not saved: changed elsewhere');
      await type(' and more');
      await eventually(kept, ([one]) => one?.value.includes('// mine more and more') ?? false);
      assert.equal((await service.draft(target))?.contents, '// theirs');

      await press('Compare and choose');
      await page.waitForSelector('dialog[open]');
      await press('Take theirs');
      await untilStatus('Saved');
      assert.equal(await text(), '// theirs');
      await press('Bring the former text back');
      await saved('// mine more and more');
      assert.match(await text(), /mine more and more/);
    }));

  test('is warned about at the first change when the browser blocks storage, while nothing is lost yet', () =>
    withEditor(async ({ openNew }) => {
      const { until, untilOpen, type, untilStatus } = await openNew((page) =>
        page.evaluateOnNewDocument(() => {
          const refuse = () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError');
          };
          Object.defineProperty(window, 'localStorage', { get: refuse });
        }),
      );
      await untilOpen();
      await type('// x');
      await until('This browser keeps no copy of unsaved text here');
      await untilStatus('Saved');
    }));

  test('makes the page ask before leaving, and saved work does not', () =>
    withEditor(async ({ service, target, open }) => {
      const { page, untilOpen, type, untilStatus } = await open();
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.type());
        void dialog.accept();
      });
      await untilOpen();
      // Browsers ask only on pages that were used.
      await page.locator('.cm-content').click();
      await type('// saved');
      await untilStatus('Saved');
      await page.goto('about:blank');
      assert.deepEqual(dialogs, []);

      await page.goto(await service.url(target));
      await untilOpen();
      await page.locator('.cm-content').click();
      service.script.respond = (request) =>
        request.method === 'POST' ? new Response('', { status: 500 }) : undefined;
      await type('// not saved');
      await untilStatus('Not saved: the service has a problem');
      await page.goto('about:blank');
      assert.deepEqual(dialogs, ['beforeunload']);
    }));

  test('is saved by a page that is left, and not offered again', () =>
    withEditor(async ({ open, saved }) => {
      const page = await open();
      await page.untilOpen();
      page.page.on('dialog', (dialog) => void dialog.accept());
      await page.type('// on the way out');
      await page.page.goto('about:blank');
      await saved('// on the way out');
      const next = await open();
      await next.untilOpen();
      await next.untilStatus('All changes saved');
      await eventually(next.kept, (kept) => kept.length === 0);
      assert.equal(await next.page.evaluate(() => document.body.innerText.includes('Restore')), false);
    }));
});
