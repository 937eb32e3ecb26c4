import { expect } from '@open-wc/testing';

import { scriptedServer } from '../support/scripted-server.ts';
import { moduleServer } from '../editor-module/module-page.ts';
import { openPage } from './plugin-editor-page.ts';
import {
  untilChangeTo,
  create,
  frameOf,
  untilState,
  rejection,
  requestCounts,
} from './plugin-editor-setup.ts';
import {
  apply,
  evaluateIn,
  flushMessages,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
} from './protocol-setup.ts';

const BEFORE = '/test/element/version-before';

/** An editor with `connectLauncher` of the version before. */
async function editorBefore() {
  return scriptedServer(
    {
      path: '/connect.js',
      headers: { 'content-type': 'text/javascript' },
      body: await (await fetch(`${BEFORE}/editor.js`)).text(),
    },
    {
      path: '/editor*',
      html: `<!doctype html><meta charset="utf-8"><title>Editor</title><script type="module">
        import { connectLauncher } from './connect.js';
        const report = (call) => parent.postMessage({ received: call, from: '', page: location.href }, '*');
        const launcher = connectLauncher({
          capabilities: ['open'],
          onOpen(open, channel) { report({ type: 'onOpen', open }); channel.ready(); },
          onToken: (token) => report({ type: 'onToken', token }),
          onClose: () => report({ type: 'onClose' }),
        });
        addEventListener('message', ({ data }) => data?.evaluate && eval(data.evaluate));
      </script>`,
    },
    { path: '/token', times: 1, json: { token: 'token-1', expires_in: 900 } },
    { path: '/token', json: { token: 'token-2', expires_in: 900 } },
    { path: '/ping', body: '' },
  );
}

describe('this <plugin-editor> with an editor of the version before', () => {
  for (const delivery of ['message', 'url']) {
    it(`opens, renews and closes it as that version did (${delivery} delivery)`, async () => {
      const server = await editorBefore();
      const received = recordMessages();
      const element = mountWithMessages(server, {
        'token-delivery': delivery,
        'read-only': '',
        locale: 'de',
        style: '--plugin-editor-accent: red',
        initialSource: { contents: '', lang: 'typescript' },
      });
      const events = recordEvents(element);
      const { open } = (await received.until('onOpen')) as never as { open: object };
      const { expiresAt, ...fields } = open as Record<string, unknown>;
      expect(Date.parse(expiresAt as string)).to.be.above(Date.now());
      // It does not receive fields that it does not know.
      expect(fields).to.deep.equal({
        builder: server.url(),
        ident: 'com.example.tenant-1',
        namespace: 'default',
        fn: 'add-record',
        token: 'token-1',
      });
      await untilState(element, 'ready');
      await flushMessages(element);
      expect(named(events, 'ready').at(-1)?.['confirmed']).to.equal(true);
      expect(element.plugin).to.deep.equal({
        ident: 'com.example.tenant-1',
        namespace: 'default',
        fn: 'add-record',
      });
      element.locale = 'fr';
      await element.renewToken();
      expect(await received.until('onToken')).to.deep.include({ type: 'onToken' });
      expect((await rejection(element.save())).code).to.equal('editor');

      // It cannot save on request, so the page is asked about unsaved work.
      evaluateIn(frameOf(element).contentWindow, 'launcher.dirty(true); launcher.save()');
      await flushMessages(element);
      expect(element.dirty).to.equal(true);
      const frame = frameOf(element);
      element.fn = 'g';
      await untilChangeTo(element, 'ready');
      expect(named(events, 'discard')).to.have.length(1);
      expect(named(events, 'discard')[0]).not.to.have.property('error');
      expect(frameOf(element)).to.equal(frame);
      expect(received.of('onOpen')).to.have.length(2);
      await element.close();
      await received.until('onClose');
      expect(await requestCounts(server)).to.include({ '/editor': 1 });
    });
  }
});

describe('an editor of this version in <plugin-editor> of the version before', () => {
  const OPTIONS = `capabilities: ['open'],
    onSave: () => { report({ type: 'onSave' }); return Promise.resolve(); },
    onConfigure: (changes) => report({ type: 'onConfigure', changes }),`;

  for (const delivery of ['message', 'url']) {
    it(`opens, changes and closes as that version expects (${delivery} delivery)`, async () => {
      const server = await moduleServer(OPTIONS);
      const page = await openPage(server, { module: `${BEFORE}/plugin-editor.js` });
      const calls: Record<string, unknown>[] = [];
      page.contentWindow.addEventListener(
        'message',
        ({ data }) => data?.received && calls.push(data.received),
      );
      const element = create(server, { 'token-delivery': delivery }, page.contentDocument);
      const events: (Event & Record<string, unknown>)[] = [];
      for (const name of ['ready', 'error', 'dirty', 'save', 'deploy', 'test', 'live']) {
        element.addEventListener(`plugin-editor-${name}`, (event) => events.push(event as never));
      }
      page.contentDocument.body.append(element);
      await untilState(element, 'ready');
      expect(element).not.to.have.property('refreshAppearance');
      const run = async (code: string) => {
        const window = frameOf(element).contentWindow as Window;
        const done = new Promise<void>((resolve) => {
          page.contentWindow.addEventListener('message', ({ data }) => data?.mark === code && resolve());
        });
        window.postMessage(
          { evaluate: `${code}; parent.postMessage({ mark: ${JSON.stringify(code)} }, '*')` },
          '*',
        );
        await done;
      };
      await run(`launcher.ready({ language: 'typescript', exists: true, permissions: ['read'] });
        launcher.dirty(true); launcher.dirty(false); launcher.save();
        launcher.test({ result: 'r', passed: true });
        launcher.deploy({ version: 'v1.0.0', unchanged: true });
        launcher.live({ version: null })`);
      // With url delivery it may have been ready by its load before the editor was.
      const types = events.map(({ type }) => type.slice('plugin-editor-'.length));
      expect(types.filter((type) => type !== 'ready')).to.deep.equal([
        'dirty',
        'dirty',
        'save',
        'test',
        'deploy',
      ]);
      expect(events.at(-1)).to.include({ version: 'v1.0.0' });
      const [{ open }] = calls.filter(({ type }) => type === 'onOpen') as [{ open: object }];
      for (const name of ['readOnly', 'locale', 'appearance', 'initialSource'])
        expect(open).not.to.have.property(name);
      await element.renewToken();
      apply(element, { fn: 'g' });
      await untilChangeTo(element, 'ready');
      await element.close();
      expect(calls.map(({ type }) => type))
        .not.to.include('onSave')
        .and.not.to.include('onConfigure');
      expect(calls.filter(({ type }) => type === 'onOpen')).to.have.length(2);
      expect(await requestCounts(server)).to.include({ '/editor': 1 });
    });
  }
});
