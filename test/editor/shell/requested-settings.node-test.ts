import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { buttonNamed } from '../harness.ts';
import { type LauncherPage, openLauncher, reusedLaunchers } from '../launcher-page.ts';
import { eventually, until } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();
const withLauncher = reusedLaunchers(browser, service);

const source = { contents: 'export function run(input) {\n  return input;\n}\n', lang: 'javascript' };

describe('the settings that the host page requests', () => {
  let count = 0;
  const fixtureOf = (launcher: LauncherPage) => {
    const fn = `wish-${++count}`;
    const open = async (settings: object = {}, permissions?: string) => {
      const token = await service.token({ fn }, permissions);
      const session = `s-${fn}-${permissions ?? 'all'}-${Math.random()}`;
      const place = { builder: service.origin, ident: 'com.acme.t1', namespace: 'default', fn };
      await launcher.sendMessage({ type: 'open', session, token, ...place, ...settings });
      return session;
    };
    return { launcher, fn, open };
  };
  const withEditor = (run: (fixture: ReturnType<typeof fixtureOf>) => Promise<void>) =>
    withLauncher((launcher) => run(fixtureOf(launcher)));
  const has = ({ frame }: LauncherPage, selector: string) => frame.$(selector).then(Boolean);

  test('are answered with the language, whether there is a draft and the permissions, and again when these change', () =>
    withEditor(async ({ launcher, open }) => {
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
    withEditor(async ({ launcher, fn, open }) => {
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
    withEditor(async ({ launcher, fn, open }) => {
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

  test('include a read-only token for a plugin that is not there, which is not called new', () =>
    withEditor(async ({ launcher, open }) => {
      await open({}, 'read');
      await launcher.until('you may only look at plugins here');
      assert.equal(await launcher.frame.$eval('.eyebrow', (one) => one.textContent), 'No such plugin');
    }));

  test('can be German throughout from that moment on, and fall back to English for an unknown language', () =>
    withEditor(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      // A node with another version of the editor does not have its texts.
      let requests = 0;
      service.script.respond = ({ url }) =>
        /assets\/de-/.test(url) && ++requests === 1 ? new Response('', { status: 404 }) : undefined;
      const session = await open({ locale: 'de-CH' });
      await launcher.waitForMessage('ready', session);
      await launcher.until('Bereitstellen');
      await launcher.until('Alles gespeichert');
      assert.equal(requests, 2);
      assert.equal(await launcher.frame.$eval('html', ({ lang }) => lang), 'de');
      // Its commands too, with the keys by the names on a German keyboard.
      await launcher.frame.focus('.cm-content');
      await launcher.page.keyboard.press('F1');
      await launcher.until('Strg+Umschalt+D');
      await launcher.page.keyboard.press('Escape');
      const deploysAt = () =>
        launcher.frame.$eval('.button.primary', (button) => {
          const { left, width } = button.getBoundingClientRect();
          return (left + width / 2) / innerWidth;
        });
      const place = await deploysAt();
      await launcher.sendMessage({ type: 'configure', session, locale: 'ar' });
      await launcher.until('All changes saved');
      // Mirrored.
      assert.ok(place > 0.5 && (await deploysAt()) < 0.5, `${place}`);
      assert.deepEqual(await launcher.frame.$eval('html', ({ lang, dir }) => [lang, dir]), ['en', 'rtl']);
      const title = () => launcher.frame.evaluate(() => document.title);
      assert.equal(await title(), `${fn} – Plugin editor`);
      await launcher.sendMessage({ type: 'configure', session, locale: 'de' });
      await launcher.until('Alles gespeichert');
      assert.equal(await title(), `${fn} – Plugin-Editor`);
      service.script.respond = undefined;
    }));

  test('apply the look of the page, and remove it again', () =>
    withEditor(async ({ launcher, fn, open }) => {
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
    withEditor(async ({ launcher, fn, open }) => {
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
    withEditor(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      const session = await open({ template: 'typescript' });
      await launcher.waitForMessage('ready', session);
      await launcher.until('This plugin stays in JavaScript');
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
      await launcher.until('The plugin is in TypeScript now.');
      await launcher.waitForMessage('ready', session, ({ language }) => language === 'typescript');
      await eventually(
        () => service.draft({ fn }),
        (draft) => draft?.lang === 'typescript',
      );
      // What is being saved is kept, too, until the response has come.
      const kept = await eventually(launcher.kept, ({ length }) => length === 1);
      assert.match(kept[0]?.value ?? '', /\/\/ meanwhile/);
      await launcher.type('// in the other language');
      await launcher.press('Bring the former text back');
      await eventually(
        () => service.draft({ fn }),
        (draft) => draft?.contents === former && draft.lang === 'javascript',
      );
      // What was written in the other language can be brought back as well, and is kept as well.
      await launcher.until('The former text is here again. The former text is kept');
      await launcher.press('Bring the former text back');
      const draft = await eventually(
        () => service.draft({ fn }),
        (one) => one?.lang === 'typescript',
      );
      assert.match(draft?.contents ?? '', /\/\/ in the other language/);
      // What has come back is kept no longer.
      const keptAside = await eventually(launcher.kept, ({ length }) => length === 1);
      assert.match(keptAside[0]?.value ?? '', /\/\/ meanwhile/);
      await launcher.sendMessage({ type: 'configure', session, readOnly: true });
      await launcher.frame.waitForSelector('.read-only');
      assert.equal(await launcher.frame.$(buttonNamed('Bring the former text back')), null);
    }));

  test('do not repeat that a draft keeps its language to a user who has dismissed it, in this browser', async () => {
    const launcher = await openLauncher(browser, service);
    const { fn, open } = fixtureOf(launcher);
    try {
      const notice = 'This plugin stays in JavaScript';
      await service.save(source, { fn });
      await open({ template: 'typescript' });
      await launcher.until(notice);
      await launcher.press('Dismiss');
      await launcher.loadEditor();
      await until('the next load', async () => (await launcher.loads()) === 2);
      const session = await open({ template: 'typescript' });
      await launcher.waitForMessage('ready', session);
      assert.ok(!(await launcher.frame.$eval('body', (body) => body.innerText)).includes(notice));
      // Another language is another question.
      await open({ template: 'assemblyscript' });
      await launcher.until(notice);
    } finally {
      await launcher.close();
    }
  });

  test('offer to start over no longer once it is known that the token permits reading alone', () =>
    withEditor(async ({ launcher, fn, open }) => {
      await service.save(source, { fn });
      let release = () => {};
      const isReleased = new Promise<void>((resolve) => (release = resolve));
      service.script.hold = ({ url }) => (url.includes('/session') ? isReleased : undefined);
      const offer = () => launcher.frame.$(buttonNamed('Start over in TypeScript…'));
      try {
        await open({ template: 'typescript' }, 'read');
        await launcher.until('This plugin stays in JavaScript');
        assert.ok(await offer());
      } finally {
        service.script.hold = undefined;
        release();
      }
      await until('the end of the offer', async () => (await offer()) === null);
      await launcher.until('This plugin stays in JavaScript');
    }));
});
