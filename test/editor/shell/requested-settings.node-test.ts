import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type LauncherPage, openLauncher } from '../launcher-page.ts';
import { eventually, until } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();

const source = { contents: 'export function run(input) {\n  return input;\n}\n', lang: 'javascript' };

describe('the settings that the host page requests', () => {
  let count = 0;
  const scene = async (
    run: (scene: {
      launcher: LauncherPage;
      fn: string;
      open: (settings?: object, permissions?: string) => Promise<string>;
    }) => Promise<void>,
  ) => {
    const launcher = await openLauncher(browser, service);
    const fn = `wish-${++count}`;
    const open = async (settings: object = {}, permissions?: string) => {
      const token = await service.token({ fn }, permissions);
      const session = `s-${fn}-${permissions ?? 'all'}-${Math.random()}`;
      const place = { builder: service.origin, ident: 'com.acme.t1', namespace: 'default', fn };
      await launcher.sendMessage({ type: 'open', session, token, ...place, ...settings });
      return session;
    };
    try {
      await run({ launcher, fn, open });
      assert.deepEqual(launcher.problems, []);
    } finally {
      await launcher.close();
    }
  };
  const has = ({ frame }: LauncherPage, selector: string) => frame.$(selector).then(Boolean);

  test('are answered with the language, whether there is a draft and the permissions, and again when these change', () =>
    scene(async ({ launcher, open }) => {
      const session = await open({ template: 'javascript' }, 'read,write');
      const ready = await launcher.waitForMessage('ready', session, ({ permissions }) =>
        Array.isArray(permissions),
      );
      assert.equal(ready['language'], 'javascript');
      assert.equal(ready['exists'], false);
      assert.deepEqual(ready['permissions'], ['read', 'write']);
      await launcher.until('Build');
      assert.equal(
        (await launcher.frame.$$eval('.actions', ([one]) => one?.textContent ?? '')).includes('Deploy'),
        false,
      );
      await launcher.save();
      await launcher.waitForMessage('ready', session, ({ exists }) => exists === true);
    }));

  test('can make it read-only, after unsaved work was saved, and editable again', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      const session = await open();
      await launcher.waitForMessage('ready', session);
      await launcher.type('// before');
      await launcher.sendMessage({ type: 'configure', session, readOnly: true });
      await launcher.until('Read-only');
      await eventually(
        () => service.draft({ fn }),
        (draft) => draft?.contents.includes('// before') ?? false,
      );
      await launcher.type('// refused');
      assert.equal((await launcher.text()).includes('// refused'), false);
      assert.equal(await has(launcher, '.actions > .button.primary'), false);
      await launcher.sendMessage({ type: 'configure', session, readOnly: null });
      await launcher.frame.waitForSelector('.actions > .button.primary');
      await launcher.type('// after');
      assert.match(await launcher.text(), /\/\/ after/);
    }));

  test('include a read-only token, with which nothing can be changed, and the tests can be read', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save({ ...source, tests: [{ name: 'a test', payload: 'p' }] }, { fn });
      const session = await open({}, 'read');
      await launcher.waitForMessage('ready', session);
      await launcher.until('Read-only');
      await launcher.until('a test');
      assert.equal(await has(launcher, '.test-run'), false);
      assert.equal(
        (await launcher.frame.$$eval('.tests', ([one]) => one?.textContent ?? '')).includes('Add test'),
        false,
      );
    }));

  test('can be German throughout from that moment on, and fall back to English for an unknown language', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      const session = await open({ locale: 'de-CH' });
      await launcher.waitForMessage('ready', session);
      await launcher.until('Bereitstellen');
      await launcher.until('Alles gespeichert');
      assert.equal(await launcher.frame.$eval('html', ({ lang }) => lang), 'de');
      // Its commands too, with the keys by the names on a German keyboard.
      await launcher.frame.focus('.cm-content');
      await launcher.page.keyboard.press('F1');
      await launcher.until('Strg+Umschalt+D');
      await launcher.page.keyboard.press('Escape');
      await launcher.sendMessage({ type: 'configure', session, locale: 'ar' });
      await launcher.until('All changes saved');
      assert.deepEqual(await launcher.frame.$eval('html', ({ lang, dir }) => [lang, dir]), ['en', 'rtl']);
      await launcher.sendMessage({ type: 'configure', session, locale: 'de' });
      await launcher.until('Alles gespeichert');
      assert.equal(await launcher.loads(), 1);
    }));

  test('apply the look of the page, and remove it again', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      const appearance = { colorScheme: 'dark', accent: 'rgb(255, 200, 0)', radius: '2px', font: 'url(x)' };
      const session = await open({ appearance });
      await launcher.waitForMessage('ready', session);
      const look = () =>
        launcher.frame.$eval('.button.primary', (button) => {
          const { backgroundColor, borderRadius } = getComputedStyle(button);
          return [backgroundColor, borderRadius, getComputedStyle(document.documentElement).colorScheme];
        });
      await eventually(look, ([ground]) => ground === 'rgb(255, 200, 0)');
      assert.deepEqual((await look()).slice(1), ['2px', 'dark']);
      assert.equal(await launcher.frame.$eval('html', ({ style }) => style.getPropertyValue('--sans')), '');
      await launcher.sendMessage({ type: 'configure', session, appearance: null });
      await eventually(look, ([ground]) => ground !== 'rgb(255, 200, 0)');
    }));

  test('begin a new plugin with the given source, which is not dirty, and is saved on request', () =>
    scene(async ({ launcher, fn, open }) => {
      const initialSource = { ...source, contents: '// given\n', tests: [{ name: 'given test' }] };
      const session = await open({ initialSource });
      await launcher.waitForMessage('ready', session);
      assert.match(await launcher.text(), /\/\/ given/);
      assert.equal(await service.draft({ fn }), undefined);
      assert.equal(
        (await launcher.receivedMessages()).some(({ type, dirty }) => type === 'dirty' && dirty === true),
        false,
      );
      await launcher.sendMessage({ type: 'save-request', session, request: 'r1' });
      const result = await launcher.waitForMessage('save-result', session);
      assert.deepEqual([result['request'], result['error']], ['r1', undefined]);
      assert.equal((await service.draft({ fn }))?.contents, '// given\n');
    }));

  test('do not change the language of a draft, unless the user starts over in another one', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      const session = await open({ template: 'typescript' });
      await launcher.waitForMessage('ready', session);
      await launcher.until('This plugin is written in JavaScript, and stays so');
      await launcher.press('Start over in TypeScript…');
      await launcher.frame.waitForSelector('dialog .choice');
      // What is typed while the template is loaded belongs to the former text.
      let isAsked = false;
      let release = () => {};
      service.script.hold = (request) => {
        if (!request.url.includes('/v2/template/')) return undefined;
        isAsked = true;
        return new Promise((resolve) => (release = resolve));
      };
      await launcher.frame.locator('dialog .choice').click();
      await until('the request for the template', () => isAsked);
      service.script.hold = undefined;
      await launcher.type('// meanwhile');
      const former = await launcher.text();
      assert.match(former, /\/\/ meanwhile/);
      release();
      await launcher.until('The plugin starts over in TypeScript.');
      await launcher.waitForMessage('ready', session, ({ language }) => language === 'typescript');
      await eventually(
        () => service.draft({ fn }),
        (draft) => draft?.lang === 'typescript',
      );
      const kept = await launcher.kept();
      assert.equal(kept.length, 1);
      assert.match(kept[0]?.value ?? '', /\/\/ meanwhile/);
      await launcher.press('Bring the former text back');
      await eventually(
        () => service.draft({ fn }),
        (draft) => draft?.contents === former && draft.lang === 'javascript',
      );
    }));

  test('offer to start over no longer once it is known that the token permits reading alone', () =>
    scene(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      let release = () => {};
      const isReleased = new Promise<void>((resolve) => (release = resolve));
      service.script.hold = ({ url }) => (url.includes('/session') ? isReleased : undefined);
      const offer = () => launcher.frame.$('::-p-aria([name="Start over in TypeScript…"][role="button"])');
      try {
        await open({ template: 'typescript' }, 'read');
        await launcher.until('This plugin is written in JavaScript, and stays so');
        assert.ok(await offer());
      } finally {
        service.script.hold = undefined;
        release();
      }
      await until('the end of the offer', async () => (await offer()) === null);
      await launcher.until('This plugin is written in JavaScript, and stays so');
    }));
});
