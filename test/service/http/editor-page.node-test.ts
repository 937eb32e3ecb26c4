import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameAncestors } from '../../../service/src/http/frame-ancestors.ts';
import { errorOf, startService } from '../harness.ts';

const text = (body: string, type: string) => ({ body: new TextEncoder().encode(body), type });
const editorAssets = new Map([
  [
    'index.html',
    text(
      '<meta property="csp-nonce" nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>' +
        '<meta name="tokens" content="__ADDRESS_TOKENS__" />',
      'text/html; charset=utf-8',
    ),
  ],
  ['assets/index-B7x_2kQa.js', text('const marker = "__CSP_NONCE__";', 'text/javascript')],
  ['assets/plain.css', text('body {}', 'text/css')],
  ['assets/ü b.svg', text('<svg/>', 'image/svg+xml')],
]);

const directives = (response: Response) =>
  new Map(
    (response.headers.get('content-security-policy') ?? '').split('; ').map((part) => {
      const [name = '', ...values] = part.split(' ');
      return [name, values] as const;
    }),
  );

test('the page has a strict policy, and a nonce that no other response has', async (t) => {
  const { fetch } = await startService(t, { editorAssets });
  const nonces = new Set<string>();
  for (const path of ['/editor/', '/editor/index.html', '/editor/?token=secret&ident=a.b']) {
    const response = await fetch(path);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const [, nonce = ''] = /nonce="([\w-]{24})"><style nonce="\1">/.exec(await response.text()) ?? [];
    nonces.add(nonce);
    const policy = directives(response);
    assert.deepEqual(policy.get('default-src'), ["'none'"]);
    assert.deepEqual(policy.get('script-src'), ["'self'"]);
    assert.deepEqual(policy.get('connect-src'), ["'self'"]);
    assert.deepEqual(policy.get('style-src'), ["'self'", `'nonce-${nonce}'`]);
    assert.deepEqual(policy.get('base-uri'), ["'none'"]);
    assert.deepEqual(policy.get('form-action'), ["'none'"]);
    assert.ok(policy.get('frame-ancestors')?.includes('http://localhost:*'));
    assert.ok(policy.get('frame-ancestors')?.includes('http://127.0.0.1:*'));
    assert.ok(!policy.get('frame-ancestors')?.includes('*'));
  }
  assert.equal(nonces.size, 3);
  assert.ok(!nonces.has(''));
});

test('exactly the named origins may frame the editor, and each is listed once', async (t) => {
  const editorAncestors = ['https://app.example.com', 'http://10.0.0.2:3000/', 'HTTPS://APP.example.com'];
  const { fetch } = await startService(t, { editorAssets, editorAncestors });
  const ancestors = async () => directives(await fetch('/editor/')).get('frame-ancestors');
  assert.deepEqual(await ancestors(), ["'self'", 'https://app.example.com', 'http://10.0.0.2:3000']);
  // The demo's own page is added once its port is known.
  editorAncestors.push('http://localhost:5173');
  assert.equal((await ancestors())?.at(-1), 'http://localhost:5173');
});

const notAncestors = [
  ['*', /"\*" has a wildcard.*name each origin/],
  ['https://*.example.com', /has a wildcard/],
  ['https://app.example.com:*', /has a wildcard/],
  ['https://*', /has a wildcard/],
  ['app.example.com', /"app\.example\.com" is not an origin, such as https:/],
  ["'self'", /is not an origin/],
  ['https:', /is not an origin/],
  ['data:text/html,x', /is not an origin/],
  ['file:///etc', /is not an origin/],
  ['https://[::1]:8080', /is not an origin/],
  ["https://a.example;script-src'unsafe-inline'", /is not an origin/],
  ["https://a.example; script-src 'unsafe-inline'", /is not an origin/],
  ["https://a.example'", /is not an origin/],
  ['', /"" is not an origin/],
  ['https://a.example/path', /must be written https:\/\/a\.example\.$/],
  ['https://a.example/?q', /must be written https:\/\/a\.example\.$/],
  ['https://a.example#f', /must be written https:\/\/a\.example\.$/],
  ['https://a.example:443', /must be written https:\/\/a\.example\.$/],
  ['https://bücher.example', /must be written https:\/\/xn--bcher-kva\.example\.$/],
  ['https:\\\\a.example', /must be written https:\/\/a\.example\.$/],
  ['https://user:secret@a.example', /user name or password/],
  ['https://user:secret@*', /user name or password/],
] as const;

test('an ancestor that is no exact origin is refused, with what would be right', async (t) => {
  for (const [wrong, message] of notAncestors)
    assert.throws(
      () => frameAncestors(['https://app.example.com', wrong]),
      ({ message: errorMessage }: Error) =>
        errorMessage.startsWith('EDITOR_ANCESTORS: ') &&
        message.test(errorMessage) &&
        !errorMessage.includes('secret'),
      wrong,
    );
  await assert.rejects(startService(t, { editorAncestors: ['*'] }), /^Error: EDITOR_ANCESTORS: /);
});

test('the page is told that it may take a token from its address, unless that is turned off', async (t) => {
  for (const [options, errorMessage] of [
    [{}, 'on'],
    [{ editorAddressTokens: true }, 'on'],
    [{ editorAddressTokens: false }, 'off'],
  ] as const) {
    const { fetch } = await startService(t, { editorAssets, ...options });
    assert.match(
      await (await fetch('/editor/')).text(),
      new RegExp(`<meta name="tokens" content="${errorMessage}" />`),
    );
  }
});

test('a file with a hash in its name is cached for good, and any other is not', async (t) => {
  const { fetch } = await startService(t, { editorAssets });
  const hashed = await fetch('/editor/assets/index-B7x_2kQa.js');
  assert.equal(hashed.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(hashed.headers.get('content-type'), 'text/javascript');
  assert.equal(await hashed.text(), 'const marker = "__CSP_NONCE__";');
  assert.equal((await fetch('/editor/assets/plain.css')).headers.get('cache-control'), 'no-store');
  assert.equal((await fetch('/editor/assets/%C3%BC%20b.svg')).status, 200);
});

test('only files in memory are served', async (t) => {
  const { fetch } = await startService(t, { editorAssets });
  for (const path of [
    '/editor/none.js',
    '/editor/assets',
    '/editor/assets/',
    '/editor/..%2f..%2fpackage.json',
    '/editor//etc/passwd',
    '/editor/%00',
    '/editor/.data/service.sqlite',
    '/.data/service.sqlite',
    '/service.sqlite',
  ]) {
    assert.equal((await errorOf(await fetch(path))).status, 404, path);
  }
});

test('the address without its trailing slash redirects to the one with it, and keeps the query', async (t) => {
  const { fetch } = await startService(t, { editorAssets });
  const response = await fetch('/editor?ident=a.b&fn=x');
  assert.deepEqual([response.status, response.headers.get('location')], [308, '/editor/?ident=a.b&fn=x']);
});
