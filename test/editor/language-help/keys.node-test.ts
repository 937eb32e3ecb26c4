import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HTTPRequest } from 'puppeteer-core';
import { pressKeys } from '../../support/press-keys.ts';
import { editorFixture } from '../editor-fixture.ts';
import {
  javascript,
  openText,
  putCursor,
  untilHelped,
  untilRequested,
  untilShown,
  untilText,
} from './typing.ts';
import { eventually, until } from '../../support/until.ts';

describe('language help', () => {
  const withEditor = editorFixture();

  test('completes with type and documentation while the user types, and on Ctrl+Space', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      // Where the text has less room beside the list than documentation usually takes.
      await page.setViewport({ width: 640, height: 600 });
      await untilHelped(context, editor);
      await putCursor(page, 'input;', 5);
      await page.keyboard.type('.tri');
      await untilShown(page, '.cm-tooltip-autocomplete', 'trimEnd');
      await untilShown(page, '.cm-completionInfo', 'String.trim(): string');
      await untilShown(page, '.cm-completionInfo', 'white space');
      // It stands beside the list, where it can be read, and not cut off behind its edge.
      await page.waitForFunction(() => {
        const info = document.querySelector('.cm-completionInfo');
        const { left, top, width, height } = info!.getBoundingClientRect();
        return info!.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      const covered = await page.evaluate(() => {
        const [list, info] = ['.cm-tooltip-autocomplete > ul', '.cm-completionInfo'].map((selector) =>
          document.querySelector(selector)!.getBoundingClientRect(),
        ) as [DOMRect, DOMRect];
        return (
          info.left < list.right && info.right > list.left && info.top < list.bottom && info.bottom > list.top
        );
      });
      assert.equal(covered, false, 'the documentation covers the list');
      const kind = await page.$eval(
        '[aria-selected] .cm-completionIcon',
        (one) => getComputedStyle(one, '::after').content,
      );
      assert.equal(kind, '"ƒ"');
      // CodeMirror takes no key for a list that has just appeared under who types, for 75 ms.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 750)));
      await page.keyboard.press('Enter');
      await untilText(editor, /input\.trim;/);

      await pressKeys(page, 'Escape');
      await putCursor(page, 'String(', 0);
      await pressKeys(page, 'Control', 'Space');
      await untilShown(page, '.cm-tooltip-autocomplete', 'orders');
      assert.ok(
        !(await page.$eval('.cm-tooltip-autocomplete', (list) => list.textContent.includes('document'))),
      );
    }));

  test('completes in expressions of templates and names of private fields, but not in text', () =>
    withEditor(async (context) => {
      const shop = 'class Cart {\n  #items = [];\n  add(item) {\n    return this;\n  }\n}\n';
      const text = javascript.replace('String(orders.length) + input', '`${input} and`');
      const editor = await openText(context, `${shop}${text}`);
      const { page } = editor;
      await untilHelped(context, editor);
      await putCursor(page, '${input', 7);
      await page.keyboard.type('.');
      await untilShown(page, '.cm-tooltip-autocomplete', 'charAt');
      await pressKeys(page, 'Escape');
      await putCursor(page, 'return this', 11);
      await page.keyboard.type('.');
      // On a busy machine a response can take longer than the service's limit, and nothing but another key asks again.
      await eventually(
        async () => {
          await page.keyboard.type('#');
          const isShown = await untilShown(page, '.cm-tooltip-autocomplete', '#items', 10_000).then(
            () => true,
            () => false,
          );
          if (!isShown) await page.keyboard.press('Backspace');
          return isShown;
        },
        (isShown) => isShown,
      );
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('.cm-tooltip-autocomplete'));
      // About the text before, a request may still be on its way.
      let requests = 0;
      context.service.script.hold = async (request) => {
        if (!request.url.includes('/language-help/')) return;
        const { contents } = (await request.clone().json()) as { contents: string };
        if (contents.includes(' and.')) requests++;
      };
      await putCursor(page, ' and', 4);
      await page.keyboard.type('. inp.');
      await untilText(editor, / and\. inp\./);
      await context.saved(' and. inp.');
      assert.equal(requests, 0);
    }));

  test('withdraws a request that the next key makes useless', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      await untilHelped(context, editor);
      await putCursor(page, 'input;', 5);
      let requests = 0;
      let withdrawn = 0;
      context.service.script.hold = (request) => {
        if (!request.url.includes('/language-help/') || requests > 0) return undefined;
        requests++;
        return new Promise((resolve) => {
          request.signal.addEventListener('abort', () => {
            withdrawn++;
            resolve();
          });
        });
      };
      await page.keyboard.type('.');
      await eventually(
        () => requests,
        (count) => count === 1,
      );
      await page.keyboard.type('p');
      await eventually(
        () => withdrawn,
        (count) => count === 1,
      );
      // The first was never answered; the second is.
      await untilShown(page, '.cm-tooltip-autocomplete', 'padStart');
    }));

  test('shows by hover what a thing is, without the HTML in its comment', () =>
    withEditor(async (context) => {
      const comment =
        '/** Doubles <img src=x onerror="document.title=1"> it.\n * @param n `a` number <b>x</b> */\n';
      const editor = await openText(context, `${comment}function double(n) { return n * 2; }\n${javascript}`);
      const { page } = editor;
      await page.waitForSelector('.cm-line');
      const place = await page.evaluate(() => {
        const walker = document.createTreeWalker(
          document.querySelector('.cm-content')!,
          NodeFilter.SHOW_TEXT,
        );
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const at = node.nodeValue?.indexOf('double') ?? -1;
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 6);
          const { x, y, width, height } = range.getBoundingClientRect();
          return { x: x + width / 2, y: y + height / 2 };
        }
        return { x: 0, y: 0 };
      });
      await eventually(
        async () => {
          // Help is loaded with the first movement; a tooltip waits for a pointer that rests.
          await page.mouse.move(place.x - 30, place.y + 60);
          await page.mouse.move(place.x, place.y);
          await page.waitForSelector('.cm-lsp-hover-tooltip', { timeout: 2000 }).catch(() => null);
          return page.$('.cm-lsp-hover-tooltip');
        },
        (tooltip) => tooltip !== null,
      );
      await untilShown(page, '.cm-lsp-hover-tooltip', 'function double(n: any): number');
      assert.equal(await page.$('.cm-lsp-hover-tooltip img'), null);
    }));

  test('shows the parameters of a call and each of its signatures, by Ctrl+Shift+Space and by its bracket, and says where there is no call', () =>
    withEditor(async (context) => {
      const { page } = await openText(context, javascript.replace('+ input', '+ input.replace("a", "b")'));
      await putCursor(page, '"b"', 1);
      await pressKeys(page, 'Control', 'Shift', 'Space');
      await untilShown(page, '.cm-lsp-signature-tooltip', 'replace(');
      assert.match(
        await page.$eval('.cm-lsp-active-parameter', ({ textContent }) => textContent),
        /^replace/,
      );
      await untilShown(page, '.cm-lsp-signature-num', '/4');
      await pressKeys(page, 'Control', 'Shift', 'ArrowDown');
      await untilShown(page, '.cm-lsp-signature-num', '4/4');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('.cm-lsp-signature-tooltip'));
      await putCursor(page, 'const', 1);
      await pressKeys(page, 'Control', 'Shift', 'Space');
      await untilShown(page, '.cm-place-message', 'within the brackets of a call');
      await putCursor(page, 'String', 0);
      await page.keyboard.type('input.slice(');
      await untilShown(page, '.cm-lsp-signature-tooltip', 'slice(');
    }));

  test('goes to the definition by F12, names what is part of the language, and renames all places by F2', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      await putCursor(page, 'orders.length', 2);
      await pressKeys(page, 'F12');
      await untilShown(page, '.cursor', 'Line 2');
      await putCursor(page, 'String(', 2);
      await pressKeys(page, 'F12');
      await untilShown(page, '.cm-place-message', 'This is part of the language');

      const rename = async (name: string) => {
        await pressKeys(page, 'F2');
        await page.waitForSelector('.cm-rename input:focus');
        await page.keyboard.type(name);
        await page.keyboard.press('Enter');
      };
      await putCursor(page, 'orders.length', 2);
      await rename('1st');
      // It stays open until Escape.
      await untilShown(page, '.cm-rename', 'no digit first');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('.cm-rename'));
      await rename('items');
      await untilText(editor, /const items = \[1, 2\];\n {2}return String\(items\.length\)/);
      assert.equal(await page.$('.cm-rename'), null);
      assert.equal(await page.evaluate(() => document.activeElement?.className.includes('cm-content')), true);
      await putCursor(page, 'length', 2);
      await rename('count');
      await untilShown(page, '.cm-rename', 'not declared in the plugin');
    }));

  test('explains without the service why F2, Shift+Alt+F and Ctrl+Shift+Space do nothing, and completes from words of the text', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      await untilHelped(context, editor);
      context.service.script.respond = ({ url }) =>
        url.includes('/language-help/') ? new Response(null, { status: 503 }) : undefined;
      await putCursor(page, 'orders.length', 2);
      for (const keys of [
        ['Shift', 'Alt', 'KeyF'],
        ['Control', 'Shift', 'Space'],
      ] as const) {
        await pressKeys(page, ...keys);
        await untilShown(page, '.cm-place-message', 'The service cannot be reached');
        await pressKeys(page, 'ArrowRight');
        await page.waitForFunction(() => !document.querySelector('.cm-place-message'));
      }
      await pressKeys(page, 'F2');
      await page.waitForSelector('.cm-rename input:focus');
      await page.keyboard.type('items');
      await page.keyboard.press('Enter');
      await untilShown(page, '.cm-rename', 'The service cannot be reached');
      await page.keyboard.press('Escape');
      await putCursor(page, 'return', 0);
      await page.keyboard.type('ord');
      await untilShown(page, '.cm-tooltip-autocomplete', 'orders');
      await pressKeys(page, 'Escape');
      // Without any connection, too.
      await context.service.stop();
      await pressKeys(page, 'F12');
      await untilShown(page, '.cm-place-message', 'The service cannot be reached');
      await context.service.restart();
    }));

  test('says that it waits for the service, until the response comes', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      await untilHelped(context, editor);
      const hold = () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        context.service.script.hold = ({ url }) => (url.includes('/language-help/') ? promise : undefined);
        return resolve;
      };
      await putCursor(page, 'const', 1);
      let goOn = hold();
      await pressKeys(page, 'Control', 'Shift', 'Space');
      await untilShown(page, '.cm-place-message', 'Loading…');
      goOn();
      await untilShown(page, '.cm-place-message', 'within the brackets of a call');
      await putCursor(page, 'orders.length', 2);
      goOn = hold();
      await pressKeys(page, 'F12');
      await untilShown(page, '.cm-place-message', 'Loading…');
      goOn();
      await page.waitForFunction(() => !document.querySelector('.cm-place-message'));
      await putCursor(page, 'orders.length', 2);
      goOn = hold();
      await pressKeys(page, 'F2');
      await page.waitForSelector('.cm-rename input:focus');
      await page.keyboard.type('items');
      await page.keyboard.press('Enter');
      await untilShown(page, '.cm-rename', 'Loading…');
      goOn();
      await untilText(editor, /items\.length/);
    }));

  test('takes no focus from where a user went while it was loaded', () =>
    withEditor(async ({ service, target, openNew }) => {
      await service.save({ contents: javascript, lang: 'javascript' }, target);
      const goOn = Promise.withResolvers<void>();
      service.script.hold = ({ url }) => (/\/language-help-[^/]*\.js/.test(url) ? goOn.promise : undefined);
      const editor = await openNew();
      await editor.untilOpen();
      await editor.page.focus('.cm-content');
      await pressKeys(editor.page, 'F12');
      await editor.page.focus('#tab-tests');
      goOn.resolve();
      await untilRequested({ service, target });
      await editor.page.evaluate(() => new Promise(requestAnimationFrame));
      assert.equal(await editor.page.evaluate(() => document.activeElement?.id), 'tab-tests');
    }));

  test('leaves a user alone who went elsewhere before the response about a definition or quick fixes came', () =>
    withEditor(async (context) => {
      const text = javascript.replace('orders.length) + input', 'orders.length) + ordrs');
      const editor = await openText(context, text);
      const { page } = editor;
      await untilHelped(context, editor);
      for (const [name, key, method, nothing] of [
        ['orders.length', ['F12'], 'definition', 'There is no definition for this'],
        ['ordrs', ['Control', '.'], 'codeAction', 'There is no quick fix here'],
      ] as const) {
        await putCursor(page, name, 2);
        const goOn = Promise.withResolvers<void>();
        context.service.script.hold = ({ url }) =>
          url.includes('/language-help/') ? goOn.promise : undefined;
        const isIt = (one: HTTPRequest) => one.postData()?.includes(method) ?? false;
        const asked = page.waitForRequest(isIt);
        const answered = page.waitForResponse((response) => isIt(response.request()));
        await pressKeys(page, ...key);
        await asked;
        const place = () => page.$eval('.cursor', (one) => one.textContent);
        await page.keyboard.press('ArrowDown');
        await untilShown(page, '.cursor', 'Line 4');
        const left = await place();
        goOn.resolve();
        await answered;
        // Where the user is by now, there is nothing.
        await pressKeys(page, ...key);
        await untilShown(page, '.cm-place-message', nothing);
        assert.equal(await place(), left);
        assert.equal(await page.$('.cm-quick-fixes'), null);
      }
    }));

  test('marks a misspelt name in JavaScript, goes there by F8 and fixes it by Ctrl+., whose menu Escape closes', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript);
      const { page } = editor;
      await putCursor(page, 'orders.length', 6);
      await page.keyboard.press('Backspace');
      await page.waitForSelector('.cm-lintRange-error');
      await putCursor(page, 'const', 0);
      await pressKeys(page, 'Control', '.');
      await untilShown(page, '.cm-place-message', 'There is no quick fix here');
      await pressKeys(page, 'F8');
      await untilShown(page, '.cursor', 'Line 3');
      await pressKeys(page, 'Control', '.');
      await page.waitForSelector('.cm-quick-fixes button:focus');
      // The user is in another window for a moment. A page that loses the focus keeps its active element, which hears of it.
      await page.evaluate(() => {
        document.hasFocus = () => false;
        document.activeElement?.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
        Reflect.deleteProperty(document, 'hasFocus');
      });
      await page.evaluate(() => new Promise(requestAnimationFrame));
      assert.ok(await page.$('.cm-quick-fixes button:focus'));
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('.cm-quick-fixes'));
      assert.equal(await page.evaluate(() => document.activeElement?.className.includes('cm-content')), true);
      await pressKeys(page, 'Control', '.');
      await untilShown(page, '.cm-quick-fixes', 'Change to “orders”');
      await page.keyboard.press('Enter');
      await untilText(editor, /String\(orders\.length\)/);
      await page.waitForFunction(() => !document.querySelector('.cm-lintRange-error'));
    }));

  test('shows a problem under the pointer, and offers to fix it from there', () =>
    withEditor(async (context) => {
      const editor = await openText(context, javascript.replace('orders.length', 'ordrs.length'));
      const { page } = editor;
      await untilHelped(context, editor);
      await until('the quick fixes', async () => {
        await page.mouse.move(10, 10);
        // Found anew each time: a later check of the text draws the mark again, which closes what is shown for it.
        const marked = await page.waitForSelector('.cm-lintRange-error');
        await marked?.hover().catch(() => {});
        const isShown = await untilShown(page, '.cm-diagnostic', "Cannot find name 'ordrs'", 2000).catch(
          () => null,
        );
        const offered = isShown && (await page.$('.cm-diagnostic .problem-fix'));
        await offered?.click().catch(() => {});
        return offered
          ? page.waitForSelector('.cm-quick-fixes', { timeout: 2000 }).then(Boolean, () => false)
          : false;
      });
      await untilShown(page, '.cm-quick-fixes', 'Change to “orders”');
      await page.keyboard.press('Enter');
      await untilText(editor, /String\(orders\.length\)/);
    }));

  test('loads the support for Python from another node where one does not have it', () =>
    withEditor(async ({ service, target, openNew }) => {
      await service.save({ contents: 'def run(input):\n  return input\n', lang: 'python' }, target);
      let missing = 1;
      service.script.respond = ({ url }) =>
        /\/python-[^/]*\.js$/.test(url) && missing-- > 0 ? new Response(null, { status: 404 }) : undefined;
      const { page } = await openNew();
      await page.waitForSelector('.cm-line span');
      assert.ok(missing < 1);
    }));

  test('leaves its keys to the browser in a field, and in a language without help', () =>
    withEditor(async (context) => {
      const source = 'export function run(input: string): string {\n  return input;\n}\n';
      const { page } = await openText(context, source, 'assemblyscript');
      await pressKeys(page, 'F1');
      await page.waitForSelector('dialog.palette[open]');
      const labels = await page.$$eval('.palette-item', (all) => all.map(({ textContent }) => textContent));
      assert.ok(!labels.some((label) => label.includes('Rename')));
      assert.ok(labels.some((label) => label.includes('Find and replace')));
      // It also has another library than JavaScript.
      await page.keyboard.type('about');
      await page.keyboard.press('Enter');
      await untilShown(page, 'dialog.help', 'It has no JSON, no promises');
    }));
});
