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

  test('is gone when its copy is discarded, unless that is undone', () =>
    withEditor(async ({ service, target, open }) => {
      const page = await open();
      await page.untilOpen();
      await service.stop();
      await page.type('// lost');
      await page.untilStatus('Not saved: connection lost');
      await page.crash();
      await service.restart();

      const next = await open();
      await next.until('This browser kept changes');
      await next.press('Discard');
      await next.until('The copy was discarded');
      assert.deepEqual(await next.kept(), []);
      await next.press('Undo');
      await next.until('This browser kept changes');
      assert.equal((await next.kept()).length, 1);
      await next.press('Discard');
      await next.until('The copy was discarded');
      await next.page.close();
      const last = await open();
      await last.untilOpen();
      await last.untilStatus('New plugin');
      assert.deepEqual(await last.kept(), []);
      assert.equal(await service.draft(target), undefined);
    }));

  test('is shown, but not offered to be restored, where the token permits reading alone', () =>
    withEditor(async ({ service, target, open }) => {
      await service.save({ contents: '// saved', lang: 'typescript' }, target);
      const page = await open();
      await page.untilOpen();
      await service.stop();
      await page.type('// mine');
      await page.untilStatus('Not saved: connection lost');
      await page.crash();
      await service.restart();

      const next = await open(await service.url(target, await service.token(target, 'read')));
      await next.until('This browser kept changes');
      const buttons = (within: string) =>
        next.page.$$eval(`${within} button`, (all) => all.map((one) => one.textContent.trim()));
      assert.deepEqual(await buttons('.notice'), ['Compare', 'Discard']);
      await next.press('Compare');
      await next.page.waitForSelector('dialog[open]');
      assert.deepEqual(await buttons('dialog footer'), ['Discard']);
      assert.equal((await next.kept()).length, 1);
    }));

  test("is offered neither to another plugin's token nor on another plugin's page", () =>
    withEditor(async ({ service, target, open }) => {
      const page = await open();
      await page.untilOpen();
      await service.stop();
      await page.type('// mine alone');
      await page.untilStatus('Not saved: connection lost');
      // A page that closes saves on its way out, maybe only when the service is back; one that crashes does not.
      await page.crash();
      await service.restart();
      const other = { ...target, fn: `${target.fn}-other` };

      const wrongToken = await open(await service.url(target, await service.token(other)));
      await wrongToken.until('You cannot edit this plugin');
      const noToken = await open((await service.url(target)).replace(/token=[^&]*&/, ''));
      await noToken.until('opened without a token');
      const elsewhere = await open(await service.url(other));
      await elsewhere.untilOpen();
      for (const { page: tab } of [wrongToken, noToken, elsewhere]) {
        assert.doesNotMatch(await tab.evaluate(() => document.body.innerText), /mine alone|Restore/);
      }
      await (await open()).until('This browser kept changes');
    }));

  test('makes the second of two tabs choose, with both texts in view, and keep its own', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const [first, second] = [await open(), await open()];
      await first.untilOpen();
      await second.untilOpen();
      await first.type('// from the first');
      await first.untilStatus('Saved');
      await second.page.bringToFront();
      await second.type('// from the second');
      await second.untilStatus('Not saved: changed elsewhere');
      await second.save();
      assert.equal((await service.draft(target))?.contents.includes('from the second'), false);
      await second.press('Compare and choose');
      await second.page.waitForSelector('dialog[open]');
      await second.until('// from the first');
      await second.until('// from the second');
      await second.press('Keep mine');
      await second.untilStatus('Saved');
      const draft = await saved('// from the second');
      assert.equal(draft?.contents.includes('from the first'), false);
      assert.deepEqual(await second.kept(), []);

      // And now the first is the one to choose.
      await first.page.bringToFront();
      await first.type('// again');
      await first.untilStatus('Not saved: changed elsewhere');
      await first.press('Compare and choose');
      await first.page.waitForSelector('dialog[open]');
      await first.press('Take theirs');
      await first.untilStatus('Saved');
      assert.match(await first.text(), /from the second/);
      assert.doesNotMatch(await first.text(), /from the first/);
      await first.press('Bring the former text back');
      await saved('// again');
      assert.match(await first.text(), /from the first/);
    }));

  test('of two tabs on different lines can be merged, and folded lines have a sign that fonts contain', () =>
    withEditor(async ({ service, target, open, saved }) => {
      const lines = Array.from({ length: 40 }, (_, i) => `const line${i} = ${i};`);
      const source = (...all: string[]) => ({ contents: `${all.join('\n')}\n`, lang: 'javascript' });
      await service.save(source(...lines), target);
      const page = await open();
      await page.untilOpen();
      await service.save(source('// theirs', ...lines), target);
      await page.type('// mine');
      await page.untilStatus('Not saved: changed elsewhere');
      await page.press('Compare and choose');
      await page.until('The two edits do not overlap');
      const collapsed = await page.page.waitForSelector('dialog .cm-collapsedLines');
      const signs = await collapsed?.evaluate((one) =>
        ['::before', '::after'].map((part) => getComputedStyle(one, part).content),
      );
      assert.deepEqual(signs, ['"…"', '"…"']);
      await page.press('Merge both');
      const draft = await saved('// mine');
      assert.equal(draft?.contents, source('// theirs', ...lines, '// mine').contents.trimEnd());
      await page.until('Both edits are in the text now');
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

  test('survives a choice that is put off', () =>
    withEditor(async ({ service, target, open }) => {
      const page = await open();
      await page.untilOpen();
      await page.type('// mine');
      await page.untilStatus('Saved');
      await service.save({ contents: 'theirs', lang: 'typescript' }, target);
      await page.type(' more');
      await page.untilStatus('Not saved: changed elsewhere');
      await page.press('Compare and choose');
      await page.page.waitForSelector('dialog[open]');
      await page.page.keyboard.press('Escape');
      await page.page.waitForSelector('dialog', { hidden: true });
      await page.untilStatus('Not saved: changed elsewhere');
      await page.type(' and more');
      await eventually(page.kept, ([one]) => one?.value.includes('// mine more and more') ?? false);
      assert.equal((await service.draft(target))?.contents, 'theirs');
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
      await page.goto('about:blank');
      assert.deepEqual(dialogs, []);

      await page.goBack();
      await page.waitForFunction(() => document.body.innerText.includes('without a token'));
      await page.goto(await service.url(target));
      await untilOpen();
      await type('// saved');
      await untilStatus('Saved');
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

  test('can be restored where the user would choose a language because there is no draft', () =>
    withEditor(async ({ service, target, open, saved }) => {
      delete target.template;
      const page = await open();
      await page.until('Choose a language for your new plugin');
      await page.page.locator('.choices ::-p-text(JavaScript)').click();
      await page.untilOpen();
      await service.stop();
      await page.type('// started');
      await page.untilStatus('Not saved: connection lost');
      await page.crash();
      await service.restart();
      const next = await open();
      await next.until('Choose a language for your new plugin');
      await next.press('Restore');
      await saved('// started');
      assert.match(await next.text(), /\/\/ started/);
      await eventually(next.kept, (kept) => kept.length === 0);
    }));
});
