import { expect } from '@open-wc/testing';

import { openPage } from './plugin-editor-page.ts';
import { fakeClock } from './fake-clock.ts';
import { watchConsole } from './plugin-editor-leaks.ts';
import {
  type Changes,
  SECRET,
  apply,
  create,
  editorServer,
  eventsOf,
  untilError,
  frameOf,
  frames,
  untilState,
  mount,
  part,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

describe('the URL of the frame', () => {
  it('has the parameters of the interface, in its order', async () => {
    const { server, element } = await mountReady({ namespace: 'records', template: 'typescript' });
    const [request] = await server.requests({ path: '/editor' });
    const builder = encodeURIComponent(server.url());
    expect(request?.search).to.equal(
      `?builder=${builder}&token=${SECRET}&ident=com.example.tenant-1&namespace=records&fn=add-record&template=typescript`,
    );
    expect(frameOf(element).src).to.equal(server.url('/editor') + request?.search);
  });

  it('is resolved against the document', async () => {
    watchConsole();
    const server = await editorServer();
    const { pathname } = new URL(server.sameOrigin.url('/editor'));
    await untilState(mount(server, { 'editor-url': pathname }), 'ready');
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.origin).to.equal(location.origin);
  });
});

describe('the attributes of the frame', () => {
  it('are a title, a sandbox, permissions and a referrer policy by default', async () => {
    const { server, element } = await mountReady();
    const frame = frameOf(element);
    expect(frame.title).to.equal('Plugin editor: add-record');
    expect(frame.getAttribute('sandbox')).to.equal(
      'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox',
    );
    expect(frame.allow).to.equal('clipboard-read; clipboard-write');
    expect(frame.referrerPolicy).to.equal('origin');
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.headers['referer']).to.equal(`${location.origin}/`);
  });

  it('are those of the element', async () => {
    const { server, element } = await mountReady({
      label: 'Rules of Acme',
      sandbox: 'allow-scripts',
      allow: 'fullscreen',
      referrerpolicy: 'no-referrer',
    });
    const frame = frameOf(element);
    expect(frame.title).to.equal('Rules of Acme');
    expect(frame.getAttribute('sandbox')).to.equal('allow-scripts');
    expect(frame.allow).to.equal('fullscreen');
    expect(frame.referrerPolicy).to.equal('no-referrer');
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.headers).not.to.have.property('referer');
  });

  it('include no sandbox with sandbox="none", and the strictest one with an empty value', async () => {
    const server = await editorServer();
    const open = mount(server, { sandbox: 'none' });
    const strict = mount(server, { sandbox: '' });
    await Promise.all([untilState(open, 'ready'), untilState(strict, 'ready')]);
    expect(frameOf(open).hasAttribute('sandbox')).to.equal(false);
    expect(frameOf(strict).getAttribute('sandbox')).to.equal('');
  });

  it('follow a change in the same frame, and return to their defaults', async () => {
    const { server, element } = await mountReady();
    const frame = frameOf(element);
    const names = ['title', 'sandbox', 'allow', 'referrerpolicy'];
    const values = () => names.map((name) => frame.getAttribute(name));
    const defaults = values();

    apply(element, { label: 'L', sandbox: 'None', allow: '', referrerpolicy: 'no-referrer' });
    await element.updateComplete;
    expect(values()).to.deep.equal(['L', null, '', 'no-referrer']);

    apply(element, { label: null, sandbox: null, allow: null, referrerpolicy: null });
    await element.updateComplete;
    expect(values()).to.deep.equal(defaults);
    expect(frameOf(element)).to.equal(frame);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });
});

describe('an editor on the origin of the page', () => {
  it('causes one warning when it could remove its sandbox', async () => {
    const server = await editorServer();
    const { contentWindow, contentDocument } = await openPage(server);
    const warnings: string[] = [];
    contentWindow.console.warn = (line: string) => warnings.push(line);
    const show = async (changes: Changes) => {
      const element = create(server, changes, contentDocument);
      contentDocument.body.append(element);
      await untilState(element, 'ready');
    };
    const own = { 'editor-url': server.sameOrigin.url('/editor') };
    for (const harmless of ['allow-scripts', 'allow-same-origin', 'none', '']) {
      await show({ ...own, sandbox: harmless });
    }
    await show({});
    expect(warnings).to.deep.equal([]);
    await show(own);
    await show({ ...own, sandbox: 'allow-same-origin  allow-scripts' });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/own origin.*sandbox.*another origin/);
  });
});

describe('the time limit of the frame', () => {
  it('ends in frame-timeout and removes the frame, and retry requests a new token', async () => {
    const server = await editorServer({ path: '/editor', times: 1, delay: 'hang' });
    const clock = fakeClock();
    const element = mount(server, { timeout: 2000, fetchToken: async () => SECRET });
    const events = eventsOf(element);
    await server.requests({ path: '/editor', count: 1 });
    await clock.advance(2000);
    const error = await untilError(element);
    expect(error.code).to.equal('frame-timeout');
    expect(error.message).to.contain(server.origin);
    expect(error.message).to.contain('2000 ms');
    expect(error.message).not.to.contain(SECRET);
    expect(frames(element)).to.have.length(0);
    expect(part(element, 'error')?.textContent).to.contain('The editor did not load in time.');
    expect(events.map(({ type }) => type)).not.to.include('plugin-editor-ready');
    await server.aborted({ path: '/editor' });

    element.timeout = 5000;
    await untilState(element, 'ready');
  });

  it('ends with an error response, too, which is shown as a page', async () => {
    const { element } = await mountReady({}, { path: '/editor', status: 500, html: 'Broken' });
    expect(part(element, 'frame')?.getClientRects()).to.have.length(1);
  });
});
