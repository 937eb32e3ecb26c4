import { expect } from '@open-wc/testing';
import { resetMouse, sendMouse } from '@web/test-runner-commands';

import { PluginEditorError } from '../../src/index.ts';
import { openPage } from './plugin-editor-page.ts';
import {
  type PluginEditorElement,
  SECRET,
  create,
  editorServer,
  flush,
  frames,
  mount,
  place,
  rejection,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

/** Reports to the server whether it can access its opener. */
const REPORT = `<!doctype html><title>Editor</title><script>
  navigator.sendBeacon('report?opener=' + (opener === null) + '&length=' + history.length);
</script>`;

/** All windows that are opened until the end of the test. */
let opened: (Window | null)[] = [];
const open = window.open.bind(window);

beforeEach(() => {
  window.open = (...options) => {
    expect(options).to.have.length(2);
    // As a separate window, because Chromium gives no animation frames to a page behind another tab.
    const tab = open(...(options as [string, string]), 'popup,width=300,height=200');
    opened.push(tab);
    return tab;
  };
});

afterEach(async () => {
  window.open = open;
  for (const tab of opened.splice(0)) tab?.close();
  await resetMouse();
});

/** Clicks on a button whose listener opens the tab, and resolves with the result. */
async function click(element: PluginEditorElement): Promise<void> {
  const button = document.createElement('button');
  button.textContent = 'Open in a tab';
  button.style.cssText = 'position: fixed; inset: 0 auto auto 0; inline-size: 200px; block-size: 60px';
  place().append(button);
  const result = new Promise<void>((resolve, reject) => {
    button.addEventListener('click', () => void element.openInNewTab().then(resolve, reject), { once: true });
  });
  // The caller handles it later, and it must not count as unhandled until then.
  result.catch(() => undefined);
  await sendMouse({ type: 'click', position: [100, 30] });
  return result;
}

describe('openInNewTab()', () => {
  it('rejects with message delivery, without a tab or a request', async () => {
    const server = await editorServer();
    const element = mount(server, { 'token-delivery': 'message', loading: 'lazy', hidden: '' });
    const error = await rejection(click(element));
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error.message).to.contain('token-delivery="url"');
    await flush(element, server);
    expect(opened).to.have.length(0);
    expect(await requestCounts(server)).to.deep.equal({});
  });

  it('opens the editor with a token of its own and without an opener', async () => {
    const { server, element } = await mountReady(
      { namespace: 'n', template: 'typescript' },
      { path: '/token', times: 1, json: { token: 'of-frame' } },
      { path: '/token', times: 1, json: { token: 'of-tab' } },
      { path: '/report', body: '' },
    );
    const frame = frames(element);
    await server.reset(
      { path: '/token', json: { token: 'of-tab' } },
      { path: '/editor', html: REPORT },
      { path: '*' },
    );

    await click(element);
    expect(opened).to.have.length(1);
    const [report] = await server.requests({ path: '/report', count: 1 });
    expect(report?.query['opener']).to.equal('true');
    const [, editor] = await server.requests({ path: '/editor' });
    expect(editor?.search).to.equal(
      `?builder=${encodeURIComponent(server.url())}&token=of-tab&ident=com.example.tenant-1&namespace=n&fn=add-record&template=typescript`,
    );
    expect(element.state).to.equal('ready');
    expect(frames(element)).to.deep.equal(frame);
  });

  it('works while the element is closed', async () => {
    const server = await editorServer();
    const element = create(server);
    await element.close();
    place().append(element);
    await click(element);
    await server.requests({ path: '/editor', count: 1 });
    expect(element.state).to.equal('idle');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('closes the tab again when there is no token', async () => {
    const { server, element } = await mountReady();
    await server.reset({ path: '/token', status: 403 }, { path: '/ping' });
    const error = await rejection(click(element));
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error.code).to.equal('token-unauthorized');
    expect(opened[0]?.closed).to.equal(true);
    expect(element.state).to.equal('ready');
    expect(element.error).to.equal(undefined);
  });

  it('rejects with a PluginEditorError when the token cannot be in a URL', async () => {
    const server = await editorServer();
    const element = create(server, { fetchToken: async () => `${SECRET}\uD800` });
    await element.close();
    place().append(element);
    const error = await rejection(click(element));
    expect(error).to.be.instanceOf(PluginEditorError);
    expect(error.code).to.equal('token-invalid');
    expect(opened[0]?.closed).to.equal(true);
  });

  it('opens nothing when an attribute is missing or invalid', async () => {
    const server = await editorServer();
    for (const [ident, problem] of [
      [null, 'ident'],
      ['no-period', 'ident'],
    ] as const) {
      const error = await rejection(click(mount(server, { ident })));
      expect(error).to.be.instanceOf(PluginEditorError);
      expect(error.code).to.equal('config');
      expect(error.message).to.contain(problem);
    }
    expect(opened).to.have.length(0);
    expect(await requestCounts(server)).to.deep.equal({});
  });

  it('ends in popup-blocked, without a request, when the browser opens no tab', async () => {
    const server = await editorServer();
    const { contentDocument } = await openPage(server, { sandbox: 'allow-scripts allow-same-origin' });
    const element = create(server, {}, contentDocument);
    await element.close();
    contentDocument.body.append(element);
    const error = await rejection(element.openInNewTab());
    expect(error).to.include({ name: 'PluginEditorError', code: 'popup-blocked' });
    expect(error.message).to.contain('click');
    await flush(element, server);
    expect(await server.requests({ path: '/token' })).to.have.length(0);
  });

  for (const [name, end] of [
    ['close()', (element: PluginEditorElement) => void element.close()],
    ['removal', (element: PluginEditorElement) => element.remove()],
  ] as const) {
    it(`closes the tab at ${name} while it waits for its token, as the user may have signed out`, async () => {
      const server = await editorServer({ path: '/token', delay: 'hang' });
      const element = mount(server, { loading: 'lazy', hidden: '' });
      const ended = rejection(click(element));
      await server.requests({ path: '/token', count: 1 });
      end(element);
      expect(await ended).to.include({ name: 'PluginEditorError', code: 'config' });
      await server.aborted({ path: '/token' });
      expect(opened[0]?.closed).to.equal(true);
    });
  }
});
