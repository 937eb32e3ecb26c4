import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { type Target } from '../harness.ts';
import { type LauncherPage, openLauncher, reusedLaunchers } from '../launcher-page.ts';
import { eventually } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();
const withLauncher = reusedLaunchers(browser, service);

describe('the editor in a page', () => {
  let count = 0;

  const plugin = (): Target => ({ fn: `plugin-${++count}`, template: 'javascript' });

  /** Runs with a launcher's page; nothing is loaded twice in it. */
  const withEditor = (run: (launcher: LauncherPage) => Promise<void>) =>
    withLauncher(async (launcher) => {
      try {
        await run(launcher);
      } finally {
        service.clock.ahead = 0;
        service.script.respond = service.script.hold = undefined;
      }
    });
  /** Runs with one whose editor is opened by this address, which has a plugin and a token. */
  const withAddressed = async (url: string, run: (launcher: LauncherPage) => Promise<void>) => {
    const launcher = await openLauncher(browser, service, url);
    try {
      await run(launcher);
      assert.equal(await launcher.loads(), 1);
      assert.deepEqual(launcher.problems, []);
    } finally {
      service.clock.ahead = 0;
      service.script.respond = undefined;
      await launcher.close();
    }
  };
  const saved = (target: Target, part: string) =>
    eventually(
      () => service.draft(target),
      (draft) => draft?.contents.includes(part) ?? false,
    );
  const refuseSaves = () => {
    service.script.respond = ({ method }) =>
      method === 'POST' ? new Response('', { status: 503 }) : undefined;
  };
  const about = (launcher: LauncherPage, session: string) =>
    launcher
      .receivedMessages()
      .then((all) => all.filter((one) => one.session === session).map(({ type }) => type));

  test('reports that it could not be loaded, also to a page that asks later', async () => {
    service.script.respond = ({ url }) =>
      /\/page-[^/]*\.js$/.test(url) ? new Response('', { status: 503 }) : undefined;
    const launcher = await openLauncher(browser, service);
    try {
      await launcher.until('The editor could not be loaded');
      for (const target of [plugin(), plugin()]) {
        const session = await launcher.open(target, 'token');
        assert.match(
          String((await launcher.waitForMessage('error', session))['message']),
          /could not be loaded/,
        );
      }
    } finally {
      service.script.respond = undefined;
      await launcher.close();
    }
  });

  test('opens the requested plugin without a token in any address', () =>
    withEditor(async (launcher) => {
      const target = plugin();
      const token = await service.token(target);
      const earlier = service.seen.length;
      assert.deepEqual((await launcher.waitForMessage('hello'))['capabilities'], [
        'open',
        'assist',
        'save',
        'configure',
      ]);
      await launcher.until('No plugin is open');
      const session = await launcher.open(target, token);
      await launcher.waitForMessage('ready', session);
      assert.match(await launcher.text(), new RegExp(target.fn as string));
      const addresses = [
        launcher.frame.url(),
        ...(await launcher.frame.evaluate(() => performance.getEntries().map(({ name }) => name))),
        ...(await launcher.page.evaluate(() => performance.getEntries().map(({ name }) => name))),
        ...service.seen.slice(earlier).map(({ path, referrer }) => `${path} ${referrer}`),
      ];
      assert.ok(addresses.length > 5);
      assert.deepEqual(
        addresses.filter((address) => address.includes(token)),
        [],
      );
    }));

  test('goes to another plugin without a reload, and saves first', () =>
    withEditor(async (launcher) => {
      const [one, other] = [plugin(), plugin()];
      const first = await launcher.open(one);
      await launcher.waitForMessage('ready', first);
      await launcher.type('// on the way');
      await launcher.waitForMessage('dirty', first, ({ dirty }) => dirty === true);
      const second = await launcher.open(other);
      await launcher.waitForMessage('ready', second);
      assert.match(await launcher.text(), new RegExp(other.fn as string));
      await saved(one, '// on the way');
      // That save is about a plugin that is open no longer: no word of it, and none under the other's name.
      assert.equal((await about(launcher, second)).includes('save'), false);

      const third = await launcher.open(one);
      await launcher.waitForMessage('ready', third);
      assert.match(await launcher.text(), /on the way/);
      assert.deepEqual(await launcher.kept(), []);
    }));

  test('shows the own text without a conflict on return to a plugin whose save has not ended', () =>
    withEditor(async (launcher) => {
      const [one, other] = [plugin(), plugin()];
      await launcher.waitForMessage('ready', await launcher.open(one));
      await launcher.save();
      await launcher.untilStatus('Saved');
      let pass: () => void = () => {};
      const gate = new Promise<void>((resolve) => (pass = resolve));
      service.script.hold = ({ method }) => (method === 'POST' ? gate : undefined);
      await launcher.type('// slow');
      await launcher.waitForMessage('ready', await launcher.open(other));
      const again = await launcher.open(one);
      await launcher.until('Opening the plugin…');
      pass();
      await launcher.waitForMessage('ready', again);
      assert.match(await launcher.text(), /\/\/ slow/);
      await launcher.type('// and on');
      await launcher.waitForMessage('save', again);
      await saved(one, '// and on');
    }));

  test('keeps what cannot be saved before another plugin opens, and offers it with its plugin', () =>
    withEditor(async (launcher) => {
      const [one, other] = [plugin(), plugin()];
      const first = await launcher.open(one);
      await launcher.waitForMessage('ready', first);
      refuseSaves();
      await launcher.type('// kept');
      await launcher.waitForMessage('dirty', first, ({ dirty }) => dirty === true);
      await launcher.waitForMessage('ready', await launcher.open(other));
      assert.doesNotMatch(await launcher.text(), /kept/);
      await eventually(launcher.kept, ([copy]) => copy?.value.includes('// kept') ?? false);
      service.script.respond = undefined;
      await launcher.waitForMessage('ready', await launcher.open(one));
      await launcher.until('This browser kept changes');
      await launcher.press('Restore');
      await saved(one, '// kept');
    }));

  test('loses nothing when a token ends in the middle of a save', () =>
    withEditor(async (launcher) => {
      const target = plugin();
      const session = await launcher.open(target);
      await launcher.waitForMessage('ready', session);
      await launcher.frame.evaluate(() => {
        const shown: string[] = [];
        const observer = new MutationObserver(() => shown.push(document.body.innerText));
        observer.observe(document.body, { subtree: true, childList: true, characterData: true });
        Object.assign(window, { shown, observer });
      });
      service.clock.ahead = 16 * 60_000;
      await launcher.type('// in time');
      assert.equal((await launcher.waitForMessage('token-request', session))['reason'], 'expired');
      await launcher.sendMessage({ type: 'token', session, token: await service.token(target) });
      await launcher.waitForMessage('save', session);
      await launcher.waitForMessage('dirty', session, ({ dirty }) => dirty === false);
      await saved(target, '// in time');
      await launcher.untilStatus('Saved');
      assert.match(await launcher.text(), /in time/);
      const shown = await launcher.frame.evaluate(() => {
        const { shown: all, observer } = window as unknown as { shown: string[]; observer: MutationObserver };
        observer.disconnect();
        return all.join('\n');
      });
      assert.match(shown, /Saving/);
      assert.doesNotMatch(shown, /Not saved|session ended/);
      assert.deepEqual(await launcher.kept(), []);
    }));

  test('keeps the text while there is no new token, and saves it when one comes', () =>
    withEditor(async (launcher) => {
      const target = plugin();
      const session = await launcher.open(target);
      await launcher.waitForMessage('ready', session);
      service.clock.ahead = 16 * 60_000;
      await launcher.refuseTokens('token-network');
      await launcher.type('// later');
      await launcher.waitForMessage('token-request', session);
      await launcher.untilStatus('Not saved: your session ended');
      await eventually(launcher.kept, ([copy]) => copy?.value.includes('// later') ?? false);
      await launcher.sendMessage({ type: 'token', session, token: await service.token(target) });
      await saved(target, '// later');
      await launcher.untilStatus('Saved');
    }));

  test('replaces a token that ended before the plugin is loaded', () =>
    withEditor(async (launcher) => {
      const target = plugin();
      const old = await service.token(target);
      service.clock.ahead = 16 * 60_000;
      const session = await launcher.open(target, old);
      await launcher.waitForMessage('token-request', session);
      await launcher.sendMessage({ type: 'token', session, token: await service.token(target) });
      await launcher.waitForMessage('ready', session);
    }));

  test('sends nothing to a builder that it is not configured for, and names it in the error', () =>
    withEditor(async (launcher) => {
      const builder = 'https://elsewhere.example/api';
      const session = await launcher.open({ ...plugin(), builder }, 'secret');
      const { message } = await launcher.waitForMessage('error', session);
      assert.match(String(message), /https:\/\/elsewhere\.example\/api/);
      assert.equal(String(message).includes('secret'), false);
      await launcher.until('does not know that plugin service');
    }));

  test('reports a plugin that it may not edit as an error, and opens another one afterwards', () =>
    withEditor(async (launcher) => {
      const [one, other] = [plugin(), plugin()];
      const session = await launcher.open(one, await service.token(other));
      assert.match(
        String((await launcher.waitForMessage('error', session))['message']),
        /cannot edit this plugin/,
      );
      await launcher.waitForMessage('ready', await launcher.open(other));
    }));

  test('counts as ready when it offers a choice of languages because none was named', () =>
    withEditor(async (launcher) => {
      const { fn } = plugin() as { fn: string };
      const session = await launcher.open({ fn });
      await launcher.waitForMessage('ready', session);
      await launcher.until('Choose a language for your new plugin');
    }));

  test('saves when it is closed, and then holds neither plugin nor token', () =>
    withEditor(async (launcher) => {
      const target = plugin();
      const session = await launcher.open(target);
      await launcher.waitForMessage('ready', session);
      await launcher.type('// goodbye');
      await launcher.sendMessage({ type: 'close', session });
      await launcher.until('No plugin is open');
      await saved(target, '// goodbye');
      assert.equal(await launcher.frame.$('.cm-content'), null);
      const requests = service.seen.length;
      // Not even a new token brings it back.
      await launcher.sendMessage({ type: 'token', session, token: await service.token(target) });
      await launcher.waitForMessage('ready', await launcher.open(plugin()));
      assert.equal(
        service.seen.slice(requests).some(({ path }) => path.includes(`/${target.fn}`)),
        false,
      );
    }));

  test('loads the plugin once when opened by its address and by message, and then asks for tokens', async () => {
    const target = plugin();
    await withAddressed(await service.url(target), async (launcher) => {
      const gets = () =>
        service.seen.filter(({ method, path }) => method === 'GET' && path === service.draftPath(target))
          .length;
      await launcher.untilOpen();
      const session = await launcher.open(target);
      await launcher.waitForMessage('ready', session);
      assert.equal(gets(), 1);
      service.clock.ahead = 16 * 60_000;
      await launcher.type('// by both');
      await launcher.waitForMessage('token-request', session);
      await launcher.sendMessage({ type: 'token', session, token: await service.token(target) });
      await saved(target, '// by both');
      assert.equal(gets(), 1);
    });
  });

  test('tells a late launcher that there is unsaved work', async () => {
    const target = plugin();
    await withAddressed(await service.url(target), async (launcher) => {
      await launcher.untilOpen();
      refuseSaves();
      await launcher.type('// before');
      await launcher.untilStatus('Not saved');
      const session = await launcher.open(target);
      assert.equal((await launcher.waitForMessage('dirty', session))['dirty'], true);
      assert.match(await launcher.text(), /\/\/ before/);
    });
  });

  test('reports what was built, run and deployed', () =>
    withEditor(async (launcher) => {
      const session = await launcher.open(plugin());
      await launcher.waitForMessage('ready', session);
      service.clock.ahead = 16 * 60_000;
      await launcher.press('Deploy');
      // Its token ended meanwhile: a deployment goes on all the same.
      await launcher.waitForMessage('token-request', session);
      const token = await service.token({ fn: `plugin-${count}` });
      await launcher.sendMessage({ type: 'token', session, token });
      assert.equal((await launcher.waitForMessage('build', session))['succeeded'], true);
      await launcher.frame.waitForSelector('dialog.deploy:not([data-state=testing])');
      await launcher.frame.locator('dialog.deploy [type=submit]').click();
      assert.equal((await launcher.waitForMessage('deploy', session))['version'], 'v1.0.0');
    }));
});
