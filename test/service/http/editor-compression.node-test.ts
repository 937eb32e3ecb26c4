import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { readEditorFiles } from '../../../service/src/http/editor-files.ts';
import { compressFiles } from '../../../tools/build/compress.ts';
import { listen, temporaryDirectory } from '../harness.ts';

const script = `// ${'A script that is worth its compression. '.repeat(100)}\n`;
const page = '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">';

const bytes = (content: Uint8Array | string) => new Uint8Array(Buffer.from(content));
const both = (text: string) => ({ br: bytes(brotliCompressSync(text)), gzip: bytes(gzipSync(text)) });

const editorAssets = new Map([
  ['index.html', { body: bytes(page), type: 'text/html; charset=utf-8' }],
  [
    'assets/index-B7x_2kQa.js',
    { body: bytes(script), type: 'text/javascript; charset=utf-8', compressed: both(script) },
  ],
  [
    'assets/gzip-B7x_2kQb.css',
    { body: bytes(script), type: 'text/css', compressed: { gzip: both(script).gzip } },
  ],
  ['assets/icon-B7x_2kQc.svg', { body: bytes('<svg/>'), type: 'image/svg+xml' }],
]);

const decoders: Record<string, (body: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

/** The editor on a real port, and what is sent to it as it stands on the wire. */
async function serve(t: TestContext) {
  const { port } = await listen(t, { editorAssets });
  return async (path: string, accepted?: string, method = 'GET') => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const response = await new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>(
      (resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, method, path, headers }, (incoming) => {
          const { statusCode: status = 0 } = incoming;
          buffer(incoming).then((body) => resolve({ status, headers: incoming.headers, body }), reject);
        });
        sent.on('error', reject).end();
      },
    );
    const encoding = response.headers['content-encoding'];
    const decode = encoding === undefined ? undefined : decoders[encoding];
    return { ...response, encoding, text: () => (decode?.(response.body) ?? response.body).toString() };
  };
}

/** By the header Accept-Encoding, the encoding of a response. */
const encodings = [
  [undefined, undefined],
  ['', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['br', 'br'],
  ['BR', 'br'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip;q=0.5, br;q=0.9', 'br'],
  ['gzip; q=0.5 , br ; q=0.5', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['br;q=0.000, gzip;q=0.001', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['gzip, *;q=0.1', 'gzip'],
  ['identity', undefined],
  ['identity, *;q=0', undefined],
  ['identity;q=1, br;q=0.5', undefined],
  ['identity;q=0.5, br', 'br'],
  ['identity;q=0, br', 'br'],
  ['identity;q=0', undefined],
  ['deflate, zstd', undefined],
  ['brotli', undefined],
] as const;

test('a response has the encoding that Accept-Encoding prefers of those that there are', async (t) => {
  const get = await serve(t);
  for (const [accepted, expected] of encodings) {
    for (const path of ['/editor/assets/index-B7x_2kQa.js', '/editor/']) {
      const { status, encoding } = await get(path, accepted);
      assert.deepEqual([status, encoding], [200, expected], `${accepted} ${path}`);
    }
  }
});

test('a compressed response decompresses to the same bytes, and states its length, its type and that it varies', async (t) => {
  const get = await serve(t);
  for (const [accepted, encoding] of [
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ]) {
    const response = await get('/editor/assets/index-B7x_2kQa.js', accepted);
    assert.equal(response.encoding, encoding);
    assert.equal(response.text(), script);
    assert.equal(response.headers['content-length'], `${response.body.byteLength}`);
    assert.equal(response.headers['transfer-encoding'], undefined);
    assert.equal(response.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.equal(response.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(response.headers.vary, 'accept-encoding');
  }
});

test('the page is compressed with a new nonce in each response, and is not cached', async (t) => {
  const get = await serve(t);
  const nonces = new Set<string>();
  for (const accepted of ['br', 'br', 'gzip', 'identity']) {
    const response = await get('/editor/', accepted);
    const [, nonce = ''] = /nonce="([\w-]{24})">$/.exec(response.text()) ?? [];
    nonces.add(nonce);
    assert.match(response.headers['content-security-policy'] as string, new RegExp(`'nonce-${nonce}'`));
    assert.equal(response.headers['content-length'], `${response.body.byteLength}`);
    assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.headers.vary, 'accept-encoding');
    assert.equal(response.headers.etag, undefined);
  }
  assert.equal(nonces.size, 4);
  assert.ok(!nonces.has(''));
});

test('HEAD has the headers of GET, and no body', async (t) => {
  const get = await serve(t);
  for (const accepted of ['br', 'gzip', 'identity']) {
    const path = '/editor/assets/index-B7x_2kQa.js';
    const [got, head] = [await get(path, accepted), await get(path, accepted, 'HEAD')];
    assert.equal(head.status, 200);
    assert.equal(head.body.byteLength, 0);
    // These are those of the request, and not of the file.
    const ofRequest = { date: '', 'x-request-id': '' };
    assert.deepEqual({ ...head.headers, ...ofRequest }, { ...got.headers, ...ofRequest });
  }
});

test('a file that lacks the requested compression is answered in the form that there is', async (t) => {
  const get = await serve(t);
  const style = await get('/editor/assets/gzip-B7x_2kQb.css', 'br');
  assert.deepEqual(
    [style.encoding, style.text(), style.headers.vary],
    [undefined, script, 'accept-encoding'],
  );
  assert.equal((await get('/editor/assets/gzip-B7x_2kQb.css', 'br, gzip;q=0.1')).encoding, 'gzip');
  const icon = await get('/editor/assets/icon-B7x_2kQc.svg', 'br, gzip');
  assert.deepEqual([icon.encoding, icon.text()], [undefined, '<svg/>']);
});

test('a file that no longer exists is answered with a 404 that caches do not keep', async (t) => {
  const get = await serve(t);
  const response = await get('/editor/assets/index-A7x_2kQa.js', 'br');
  assert.deepEqual([response.status, response.headers['cache-control']], [404, 'no-store']);
});

test('a compressed copy from the build is read with its file, and is no file of its own', async (t) => {
  const folder = temporaryDirectory(t);
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), page);
  writeFileSync(join(folder, 'assets/index-B7x_2kQa.js'), script);
  writeFileSync(join(folder, 'assets/icon-B7x_2kQc.svg'), '<svg/>');
  await compressFiles(join(folder, 'assets'), join(temporaryDirectory(t), 'cache'));
  const files = readEditorFiles(folder);
  assert.deepEqual([...files.keys()].toSorted(), [
    'assets/icon-B7x_2kQc.svg',
    'assets/index-B7x_2kQa.js',
    'index.html',
  ]);
  const { br, gzip } = files.get('assets/index-B7x_2kQa.js')?.compressed ?? {};
  assert.equal(brotliDecompressSync(br ?? '').toString(), script);
  assert.equal(gunzipSync(gzip ?? '').toString(), script);
  assert.ok(br && gzip && br.byteLength < script.length && gzip.byteLength < script.length);
  // Compressed, it would be longer.
  assert.deepEqual(files.get('assets/icon-B7x_2kQc.svg')?.compressed, {});
});

test('a build reuses compressed files from its cache', async (t) => {
  const [folder, cache] = [temporaryDirectory(t), temporaryDirectory(t)];
  writeFileSync(join(folder, 'index.js'), script);
  await compressFiles(folder, cache);
  // The same content in another build: what is in the cache by now is what it gets.
  for (const name of readdirSync(cache)) writeFileSync(join(cache, name), name.slice(-3));
  await compressFiles(folder, cache);
  assert.equal(readFileSync(join(folder, 'index.js.br'), 'utf8'), '.br');
});
