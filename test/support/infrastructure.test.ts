import { expect, fixture, html } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse, setViewport } from '@web/test-runner-commands';

import { rejection } from './rejection.ts';
import { scriptedServer } from './scripted-server.ts';
import { until } from './until.ts';

/** The first message that a frame's page posts to this one. */
function messageFrom(frame: HTMLIFrameElement): Promise<MessageEvent<unknown>> {
  return new Promise((resolve) => {
    const listen = (event: MessageEvent<unknown>) => {
      if (event.source !== frame.contentWindow) return;
      removeEventListener('message', listen);
      resolve(event);
    };
    addEventListener('message', listen);
  });
}

describe('a library', () => {
  it('is loaded bundled, with one instance of the modules that libraries share', async () => {
    const [lit, litHtml] = await Promise.all([import('lit'), import('lit/html.js'), import('zod/mini')]);
    expect(lit.html).to.equal(litHtml.html);
    const paths = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname);
    expect(paths.filter((path) => /^\/node_modules\/(?:lit|zod|@lit|@open-wc)\b/.test(path))).to.deep.equal(
      [],
    );
  });
});

describe('the scripted server', () => {
  it('gives the same responses on the page origin, a second origin and another site', async () => {
    const server = await scriptedServer({ path: '/token', json: { token: 't' } });
    for (const { url } of [server, server.sameOrigin, server.crossSite]) {
      const response = await fetch(url('/token'));
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('application/json');
      expect(await response.json()).to.deep.equal({ token: 't' });
    }
    expect(server.sameOrigin.origin).to.equal(location.origin);
    expect(server.origin).not.to.equal(location.origin);
    expect(new URL(server.crossSite.origin).hostname).not.to.equal(location.hostname);
    const origins = (await server.requests()).map(({ origin }) => origin);
    expect(origins).to.deep.equal([server.origin, location.origin, server.crossSite.origin]);
  });

  it('keeps the scopes of tests apart', async () => {
    const [one, other] = await Promise.all([
      scriptedServer({ path: '/a', body: 'one' }),
      scriptedServer({ path: '/a', body: 'other' }),
    ]);
    expect(await (await fetch(one.url('/a'))).text()).to.equal('one');
    expect(await (await fetch(other.url('/a'))).text()).to.equal('other');
    expect(await one.requests()).to.have.length(1);
  });

  it('uses rules in order, as often as each says, by method', async () => {
    const server = await scriptedServer(
      { path: '/t', method: 'POST', times: 2, status: 503, headers: { 'retry-after': '1' } },
      { path: '/t', method: 'POST', body: 'done' },
    );
    const post = () => fetch(server.url('/t'), { method: 'POST' });
    const first = await post();
    expect(first.status).to.equal(503);
    expect(first.headers.get('retry-after')).to.equal('1');
    expect((await post()).status).to.equal(503);
    expect(await (await post()).text()).to.equal('done');
    expect((await fetch(server.url('/t'))).status).to.equal(404);
    expect(await server.requests()).to.have.length(4);

    await server.on({ path: '/t', body: 'late' });
    expect(await (await fetch(server.url('/t'))).text()).to.equal('late');
    await server.reset({ path: '/*', body: 'any' });
    expect(await (await fetch(server.url('/t/u'), { method: 'POST' })).text()).to.equal('any');
  });

  it('returns requests exactly as they were sent', async () => {
    const server = await scriptedServer({ path: '*' });
    await fetch(server.url('/a%2Fb/%C3%A9?x=1&y=%20&x=2'), {
      method: 'POST',
      headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
      body: '{"ä":1}',
    });
    const [request] = await server.requests({ count: 1, method: 'post', path: '/a%2Fb/*' });
    expect(request?.path).to.equal('/a%2Fb/%C3%A9');
    expect(request?.query).to.deep.equal({ x: '2', y: ' ' });
    expect(request?.search).to.equal('?x=1&y=%20&x=2');
    expect(request?.body).to.equal('{"ä":1}');
    expect(request?.headers['authorization']).to.equal('Bearer t');
    expect(request?.headers['origin']).to.equal(location.origin);
    // The preflight before it is not among them.
    expect(await server.requests()).to.have.length(1);
  });

  it('waits for requests that have not come yet', async () => {
    const server = await scriptedServer({ path: '/a' });
    let there = false;
    const waiting = server.requests(2).then((requests) => {
      there = true;
      return requests;
    });
    await fetch(server.url('/a'));
    expect(await server.requests()).to.have.length(1);
    expect(there).to.equal(false);
    await fetch(server.sameOrigin.url('/a'));
    expect(await waiting).to.have.length(2);
  });

  it('holds responses until they are released', async () => {
    const server = await scriptedServer(
      { path: '/a', delay: 'hang', body: 'at last' },
      { path: '/b', body: 'b' },
    );
    let answered = false;
    const responseText = fetch(server.sameOrigin.url('/a')).then((response) => {
      answered = true;
      return response.text();
    });
    await server.requests(1);
    expect(await (await fetch(server.url('/b'))).text()).to.equal('b');
    expect(answered).to.equal(false);
    expect(await server.release('/a')).to.equal(1);
    expect(await responseText).to.equal('at last');
  });

  it('notices that the client disconnected', async () => {
    const server = await scriptedServer({ path: '*', delay: 'hang' });
    for (const [index, { url }] of [server, server.sameOrigin].entries()) {
      const controller = new AbortController();
      const response = fetch(url('/gone'), { signal: controller.signal });
      response.catch(() => undefined);
      await server.requests(index + 1);
      controller.abort();
      expect((await rejection(response)).name).to.equal('AbortError');
    }
    const aborted = await server.aborted(2);
    expect(aborted.map(({ path }) => path)).to.deep.equal(['/gone', '/gone']);
  });

  it('drops connections before and during the response, and counts one request for each', async () => {
    const server = await scriptedServer(
      { path: '/start', drop: 'start' },
      { path: '/midway', drop: 'midway', json: { token: 'never whole' } },
    );
    for (const { url } of [server, server.sameOrigin]) {
      for (const method of ['GET', 'POST']) {
        expect(await rejection(fetch(url('/start'), { method }))).to.be.an.instanceOf(TypeError);
        await rejection(fetch(url('/midway'), { method }).then((response) => response.text()));
      }
    }
    const once = ['GET /start', 'GET /midway', 'POST /start', 'POST /midway'];
    const requests = await server.requests();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([...once, ...once]);
    expect(requests.some(({ aborted }) => aborted)).to.equal(false);
  });

  it('redirects within the scope and to any URL', async () => {
    const server = await scriptedServer({ path: '/login', html: '<p>Sign in' });
    await server.on(
      { path: '/inside', redirect: '/login' },
      { path: '/outside', status: 307, redirect: server.sameOrigin.url('/login') },
    );
    const inside = await fetch(server.url('/inside'));
    expect(inside.redirected).to.equal(true);
    expect(inside.url).to.equal(server.url('/login'));
    expect((await fetch(server.sameOrigin.url('/outside'))).url).to.equal(server.sameOrigin.url('/login'));
    const manual = await fetch(server.sameOrigin.url('/inside'), { redirect: 'manual' });
    expect(manual.type).to.equal('opaqueredirect');
  });

  it('sends large and empty bodies', async () => {
    const server = await scriptedServer(
      { path: '/large', bodyRepeat: { text: 'abc', times: 100_000 } },
      { path: '/empty', status: 204 },
    );
    expect(await (await fetch(server.url('/large'))).text()).to.have.length(300_000);
    expect((await fetch(server.url('/empty'))).status).to.equal(204);
  });

  it('allows other origins with credentials unless a rule forbids it', async () => {
    const server = await scriptedServer(
      { path: '/open', method: 'PUT', headers: { 'x-limit': '7' }, body: 'open' },
      { path: '/closed', cors: false, body: 'closed' },
      { path: '/own', method: 'OPTIONS', status: 403 },
    );
    const open = await fetch(server.url('/open'), {
      method: 'PUT',
      credentials: 'include',
      headers: { 'x-wanted': '1' },
    });
    expect(await open.text()).to.equal('open');
    expect(open.headers.get('x-limit')).to.equal('7');
    await rejection(fetch(server.url('/closed')));
    await rejection(fetch(server.url('/own'), { method: 'PUT' }));
    const seen = (await server.requests()).map(({ method, path }) => `${method} ${path}`);
    expect(seen).to.deep.equal(['PUT /open', 'GET /closed', 'OPTIONS /own']);
  });

  it('sets cookies for the page and receives them', async () => {
    const server = await scriptedServer({ path: '/who' });
    const { pathname } = new URL(server.sameOrigin.url());
    const cookies = ['a=1', 'b=2'].map((pair) => `${pair}; Path=${pathname}`);
    await server.on({ path: '/sign-in', headers: { 'set-cookie': cookies } });
    await fetch(server.sameOrigin.url('/sign-in'));
    await fetch(server.sameOrigin.url('/who'));
    await fetch(server.sameOrigin.url('/who'), { credentials: 'omit' });
    const [withCookies, without] = await server.requests({ path: '/who' });
    expect(withCookies?.headers['cookie']?.split('; ').toSorted()).to.deep.equal(['a=1', 'b=2']);
    expect(without?.headers['cookie']).to.equal(undefined);
  });

  it('serves pages for frames of another origin', async () => {
    const server = await scriptedServer({
      path: '/editor',
      html: '<!doctype html><script>parent.postMessage(location.search, "*")</script>',
    });
    const frame = await fixture<HTMLIFrameElement>(html`<iframe title="Editor"></iframe>`);
    const message = messageFrom(frame);
    frame.src = server.url('/editor?token=t');
    expect((await message).origin).to.equal(server.origin);
    expect((await message).data).to.equal('?token=t');
    expect(await server.requests({ path: '/editor' })).to.have.length(1);
  });

  it('serves pages of the test origin with headers of their own, which load compiled modules', async () => {
    const server = await scriptedServer({
      path: '/page',
      headers: { 'content-security-policy': "frame-src 'none'" },
      html: `<!doctype html><script>
          addEventListener('securitypolicyviolation', async (event) => {
            const { pathMatches } = await import('/test/support/scripted-server-rules.ts');
            parent.postMessage([event.effectiveDirective, pathMatches('/a*', '/ab')], '*');
          });
        </script>
        <!-- After the listener, which would miss the event otherwise. -->
        <iframe src="/s/nowhere" title="Blocked"></iframe>`,
    });
    const frame = await fixture<HTMLIFrameElement>(html`<iframe title="Page"></iframe>`);
    const message = messageFrom(frame);
    frame.src = server.sameOrigin.url('/page');
    expect((await message).origin).to.equal(location.origin);
    expect((await message).data).to.deep.equal(['frame-src', true]);
  });

  it('throws for a mistake in a rule', async () => {
    const server = await scriptedServer();
    expect((await rejection(server.on({ path: 'a' }))).message).to.include('starts with "/"');
    expect((await rejection(server.on({ path: '/a?b' }))).message).to.include('no query');
    expect((await rejection(server.on({ path: '/a', body: '', html: '' }))).message).to.include(
      'more than one body',
    );
  });
});

const viewport = () => `${innerWidth} by ${innerHeight}`;

describe('the commands of the test runner', () => {
  it('type and press keys', async () => {
    const input = await fixture<HTMLInputElement>(html`<input aria-label="Name" />`);
    input.focus();
    await sendKeys({ type: 'Abc' });
    await sendKeys({ press: 'Backspace' });
    await sendKeys({ down: 'Shift' });
    await sendKeys({ press: 'ArrowLeft' });
    await sendKeys({ up: 'Shift' });
    expect(input.value).to.equal('Ab');
    expect([input.selectionStart, input.selectionEnd]).to.deep.equal([1, 2]);
  });

  it('move the focus by Tab and click', async () => {
    const box = await fixture<HTMLElement>(html`<div><button>One</button><button>Two</button></div>`);
    const [one, two] = box.querySelectorAll('button');
    one?.focus();
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement).to.equal(two);
    const clicked = new Promise((resolve) => one?.addEventListener('click', resolve));
    const { x, y, width, height } = one!.getBoundingClientRect();
    await sendMouse({ type: 'click', position: [Math.round(x + width / 2), Math.round(y + height / 2)] });
    await clicked;
    await resetMouse();
  });

  it('resize a viewport of 800 by 600, and let animation frames run', async () => {
    expect(viewport()).to.equal('800 by 600');
    await setViewport({ width: 480, height: 500 });
    await until('the smaller viewport', () => viewport() === '480 by 500');
    await setViewport({ width: 800, height: 600 });
    await until('the former viewport', () => viewport() === '800 by 600');
    await new Promise((resolve) => requestAnimationFrame(resolve));
  });
});

describe('the accessibility check', () => {
  it('finds violations', async () => {
    const good = await fixture(html`<button>Save</button>`);
    await expect(good).to.be.accessible();
    const bad = await fixture(html`<button></button>`);
    await rejection(expect(bad).to.be.accessible());
  });
});
