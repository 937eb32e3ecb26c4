import { expect } from '@open-wc/testing';

import {
  type Changes,
  apply,
  create,
  editorServer,
  eventsOf,
  untilError,
  flush,
  frames,
  untilState,
  mount,
  part,
  place,
  requestCounts,
  mountReady,
} from './plugin-editor-setup.ts';

describe('attributes and properties of <plugin-editor>', () => {
  it('have documented defaults', () => {
    const element = document.createElement('plugin-editor');
    expect(element).to.deep.include({
      editorUrl: '',
      builder: '',
      ident: '',
      namespace: 'default',
      fn: '',
      template: '',
      tokenEndpoint: '',
      tokenMethod: 'post',
      credentials: 'same-origin',
      tokenDelivery: 'url',
      loading: 'eager',
      timeout: 15_000,
      sandbox:
        'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox',
      allow: 'clipboard-read; clipboard-write',
      referrerpolicy: 'origin',
      label: '',
      state: 'idle',
    });
    for (const name of ['error', 'fetchToken', 'tokenHeaders', 'strings'] as const) {
      expect(element[name], name).to.equal(undefined);
    }
  });

  it('reflect the attribute of that name, with numbers as numbers', () => {
    const element = document.createElement('plugin-editor');
    const texts = {
      'editor-url': 'editorUrl',
      builder: 'builder',
      ident: 'ident',
      namespace: 'namespace',
      fn: 'fn',
      template: 'template',
      'token-endpoint': 'tokenEndpoint',
      'token-method': 'tokenMethod',
      credentials: 'credentials',
      'token-delivery': 'tokenDelivery',
      loading: 'loading',
      sandbox: 'sandbox',
      allow: 'allow',
      referrerpolicy: 'referrerpolicy',
      label: 'label',
    } as const;
    for (const [attribute, property] of Object.entries(texts)) {
      element.setAttribute(attribute, `value of ${attribute}`);
      expect(element[property], property).to.equal(`value of ${attribute}`);
    }
    element.setAttribute('timeout', '250');
    expect(element.timeout).to.equal(250);
  });

  it('include state and error, which are read-only', () => {
    const element = document.createElement('plugin-editor');
    for (const name of ['state', 'error']) expect(Reflect.set(element, name, 'ready')).to.equal(false);
  });

  it('leave it idle, without request or error, while a required one is missing or empty', async () => {
    const server = await editorServer();
    for (const name of ['editor-url', 'builder', 'ident', 'fn', 'token-endpoint']) {
      const element = create(server, { [name]: null });
      const events = eventsOf(element);
      const before = await requestCounts(server);
      place().append(element);
      for (const value of [null, '']) {
        apply(element, { [name]: value });
        await flush(element, server);
        expect(element.state, name).to.equal('idle');
        expect(element.error, name).to.equal(undefined);
        expect(events, name).to.have.length(0);
      }
      expect(await requestCounts(server), name).to.deep.equal(before);

      apply(element, { [name]: create(server).getAttribute(name) });
      await untilState(element, 'ready');
      element.remove();
    }
  });

  it('include fetchToken, which may be set late instead of token-endpoint', async () => {
    const server = await editorServer();
    const element = mount(server, { 'token-endpoint': null });
    await flush(element, server);
    expect(element.state).to.equal('idle');
    element.fetchToken = async () => 'of-function';
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
    const [request] = await server.requests({ path: '/editor' });
    expect(request?.query['token']).to.equal('of-function');
  });

  it('close the editor, without an error, when a required one is removed', async () => {
    const { element } = await mountReady();
    element.removeAttribute('fn');
    await untilState(element, 'idle');
    expect(frames(element)).to.have.length(0);
    expect(element.error).to.equal(undefined);
  });

  it('make one token request when all are set at once', async () => {
    const server = await editorServer();
    const element = mount(server, { ident: null, fn: null });
    await element.updateComplete;
    apply(element, { ident: 'com.example.b', fn: 'g', namespace: 'n', template: 'typescript' });
    apply(element, { ident: 'com.example.c', fn: 'h', 'token-method': 'post', timeout: 59_000 });
    await untilState(element, 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
    const [request] = await server.requests({ path: '/token' });
    expect(request?.body).to.equal('{"ident":"com.example.c","namespace":"n","fn":"h"}');
  });
});

/** Invalid values of each attribute, and what the message suggests; `test/core` has all that is invalid. */
const refused: [Changes, right: RegExp][] = [
  [{ 'editor-url': 'javascript:alert(1)' }, /http or https/],
  [{ builder: '/relative' }, /http or https/],
  [{ 'token-endpoint': 'http://user:pa55word@localhost/' }, /no.* user name or password/],
  [{ ident: 'tenant' }, /com\.acme\.customer-7/],
  [{ ident: 42 }, /text|com\.acme\.customer-7/],
  [{ namespace: '..' }, /well-formed.*not.*'\.\.'/],
  [{ fn: 'a\uD83D' }, /well-formed/],
  [{ template: '.' }, /well-formed.*not.*'\.\.'/],
  [{ 'token-method': 'put' }, /post or get/],
  [{ credentials: 'always' }, /same-origin or omit or include/],
  [{ 'token-delivery': 'pigeon' }, /url/],
  [{ loading: 'soon' }, /eager or lazy/],
  [{ timeout: 'soon' }, /number of milliseconds/],
  [{ timeout: '' }, /number of milliseconds/],
];

describe('<plugin-editor> with an invalid attribute', () => {
  it('is in error before any request', async () => {
    const server = await editorServer();
    for (const [changes, right] of refused) {
      const element = create(server, changes);
      const events = eventsOf(element);
      place().append(element);
      const error = await untilError(element);
      expect(error).to.include({ name: 'PluginEditorError', code: 'config', attempts: 0, status: undefined });
      expect(error.message.startsWith(Object.keys(changes)[0] ?? ''), error.message).to.equal(true);
      expect(error.message).to.match(right);
      expect(error.message).not.to.contain('pa55word');

      await flush(element, server);
      expect(await requestCounts(server)).to.deep.equal({});
      expect(events.map(({ type }) => type)).to.deep.equal(['plugin-editor-state', 'plugin-editor-error']);
      const view = part(element, 'error');
      expect(view?.textContent).to.contain('The editor is not set up correctly.');
      // The message is for the developer, and a retry would not help.
      expect(view?.textContent).not.to.contain(error.message);
      expect(part(element, 'retry')).to.equal(null);
    }
  });

  it('continues as soon as the attribute is right', async () => {
    const server = await editorServer();
    const element = mount(server, { ident: 'no-period' });
    await untilError(element);
    element.ident = 'com.example.right';
    await untilState(element, 'ready');
    expect(element.error).to.equal(undefined);
    expect(part(element, 'error')).to.equal(null);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('uses the default once the attribute is removed', async () => {
    const server = await editorServer();
    const wrong = {
      timeout: 'soon',
      'token-method': 'put',
      credentials: 'x',
      loading: 'x',
      'token-delivery': 'x',
    };
    for (const [name, value] of Object.entries(wrong)) {
      const element = mount(server, { [name]: value });
      await untilError(element);
      element.removeAttribute(name);
      await untilState(element, 'ready');
      expect(element.error, name).to.equal(undefined);
    }
  });

  it('accepts keywords in any case, and empty ones as the default', async () => {
    const server = await editorServer();
    const keywords = {
      'token-method': 'GET',
      credentials: 'Omit',
      'token-delivery': 'URL',
      loading: 'EAGER',
    };
    await untilState(mount(server, keywords), 'ready');
    await untilState(
      mount(server, { 'token-method': '', credentials: '', 'token-delivery': '', loading: '' }),
      'ready',
    );
    const requests = await server.requests({ path: '/token' });
    expect(requests.map(({ method }) => method)).to.deep.equal(['GET', 'POST']);
  });

  it('removes a running editor when an attribute becomes invalid', async () => {
    const { server, element } = await mountReady();
    element.builder = 'javascript:alert(1)';
    const error = await untilError(element);
    expect(error.code).to.equal('config');
    expect(frames(element)).to.have.length(0);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });
});

describe('<plugin-editor> with unusual text', () => {
  // By itself: as a segment of a path, a browser would take it for "..".
  const dots = '%2e%2e';
  const others = `a b+c&d=e#f?g;h 日本語 ünïcödé e\u0301 👩‍👩‍👧‍👦 \u202Eright to left\u0000\u0007${'x'.repeat(2000)}`;
  it('passes it unchanged to endpoint and editor', async () => {
    for (const text of [dots, others]) {
      const server = await editorServer();
      const ident = `com.example.${text.replaceAll('.', '·')}`;
      const element = mount(server, { ident, namespace: text, fn: text, template: text });
      await untilState(element, 'ready');
      const [token] = await server.requests({ path: '/token' });
      expect(JSON.parse(token?.body ?? '')).to.deep.equal({ ident, namespace: text, fn: text });
      const [editor] = await server.requests({ path: '/editor' });
      expect(editor?.query).to.deep.include({ ident, namespace: text, fn: text, template: text });
    }
  });
});
