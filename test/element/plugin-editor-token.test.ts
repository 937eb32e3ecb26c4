import { expect } from '@open-wc/testing';

import type { TokenRequest } from '../../src/index.ts';
import {
  apply,
  untilChangeTo,
  editorServer,
  untilState,
  mount,
  requestCounts,
} from './plugin-editor-setup.ts';

const plugin = '{"ident":"com.example.tenant-1","namespace":"default","fn":"add-record"}';

describe('the token request of <plugin-editor>', () => {
  it('is a POST with ident, namespace and fn as JSON by default', async () => {
    const server = await editorServer();
    await untilState(mount(server), 'ready');
    const [request] = await server.requests({ path: '/token' });
    expect(request).to.include({ method: 'POST', body: plugin, search: '', origin: location.origin });
    expect(request?.headers).to.include({ 'content-type': 'application/json', 'cache-control': 'no-cache' });
  });

  it('is a GET with the three as additional parameters if asked for', async () => {
    const server = await editorServer();
    const element = mount(server, {
      'token-method': 'get',
      'token-endpoint': server.sameOrigin.url('/token?app=7&fn=old'),
      namespace: 'a&b',
    });
    await untilState(element, 'ready');
    const [request] = await server.requests({ path: '/token' });
    expect(request).to.include({ method: 'GET', body: '' });
    expect(request?.search).to.equal('?app=7&fn=add-record&ident=com.example.tenant-1&namespace=a%26b');
    expect(request?.headers).not.to.have.property('content-type');
  });

  it('is resolved against the document', async () => {
    const server = await editorServer();
    const { pathname } = new URL(server.sameOrigin.url('/token'));
    await untilState(mount(server, { 'token-endpoint': pathname }), 'ready');
    expect(await requestCounts(server)).to.deep.equal({ '/token': 1, '/editor': 1 });
  });

  it('is made for each element', async () => {
    const server = await editorServer();
    await Promise.all([untilState(mount(server), 'ready'), untilState(mount(server), 'ready')]);
    expect(await requestCounts(server)).to.deep.equal({ '/token': 2, '/editor': 2 });
  });

  it('uses CORS on another origin', async () => {
    const server = await editorServer();
    await untilState(mount(server, { 'token-endpoint': server.url('/token') }), 'ready');
    const [request] = await server.requests({ path: '/token' });
    expect(request).to.include({ origin: server.origin, body: plugin });
  });
});

describe('credentials of <plugin-editor>', () => {
  /** The cookies that the endpoint receives after it set some. */
  async function cookies(credentials: string | null, origin: 'same' | 'other'): Promise<string | undefined> {
    const server = await editorServer({
      path: '/sign-in',
      headers: { 'set-cookie': 'session=s1; Path=/s/' },
    });
    const { url } = origin === 'same' ? server.sameOrigin : server;
    await fetch(url('/sign-in'), { credentials: 'include' });
    await untilState(mount(server, { credentials, 'token-endpoint': url('/token') }), 'ready');
    const [request] = await server.requests({ path: '/token' });
    return request?.headers['cookie'];
  }

  it('are sent to the origin of the page alone by default', async () => {
    expect(await cookies(null, 'same')).to.contain('session=s1');
    expect(await cookies(null, 'other')).to.equal(undefined);
    expect(await cookies('same-origin', 'same')).to.contain('session=s1');
    expect(await cookies('same-origin', 'other')).to.equal(undefined);
  });

  it('are not sent with omit', async () => {
    expect(await cookies('omit', 'same')).to.equal(undefined);
  });

  it('are sent to other origins with include', async () => {
    expect(await cookies('include', 'other')).to.contain('session=s1');
  });
});

describe('tokenHeaders of <plugin-editor>', () => {
  it('are requested once for each request', async () => {
    const server = await editorServer();
    let calls = 0;
    const element = mount(server, { tokenHeaders: () => ({ 'x-call': String(++calls) }) });
    await untilState(element, 'ready');
    await element.reload();
    const requests = await server.requests({ path: '/token' });
    expect(requests.map(({ headers }) => headers['x-call'])).to.deep.equal(['1', '2']);
  });
});

describe('fetchToken of <plugin-editor>', () => {
  it('is called with the plugin and a signal, instead of token-endpoint', async () => {
    const server = await editorServer();
    const calls: TokenRequest[] = [];
    const fetchToken = async (request: TokenRequest) => {
      calls.push(request);
      return 'of-function';
    };
    await untilState(mount(server, { fetchToken, namespace: 'n' }), 'ready');
    expect(calls).to.have.length(1);
    expect(calls[0]).to.include({ ident: 'com.example.tenant-1', namespace: 'n', fn: 'add-record' });
    expect(calls[0]?.signal).to.be.instanceOf(AbortSignal);
    expect(await requestCounts(server)).to.deep.equal({ '/editor': 1 });
  });

  it('is aborted when its token is no longer wanted', async () => {
    const server = await editorServer();
    const signals: AbortSignal[] = [];
    const fetchToken = ({ signal }: TokenRequest) => {
      signals.push(signal);
      return new Promise<string>(() => {});
    };
    const element = mount(server, { fetchToken });
    await untilChangeTo(element, 'loading');
    expect(signals[0]?.aborted).to.equal(false);
    apply(element, { fn: 'other' });
    await element.updateComplete;
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, false]);
    element.remove();
    expect(signals[1]?.aborted).to.equal(true);
  });
});
