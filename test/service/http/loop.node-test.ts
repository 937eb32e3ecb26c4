import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runLimits } from '../../../service/src/sandbox/run-limits.ts';
import { errorOf, limitRuns, startService } from '../harness.ts';
import { running, startPlugin } from '../plugin.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

const codeIn = (body: string) => (JSON.parse(body) as { error: { code: string } }).error.code;
const text = { 'content-type': 'text/plain' };

test('a plugin is written, built, tested, deployed and run', async (t) => {
  const { saveDraft, readDraft, build, test: tryOut, deploy, run } = await startPlugin(t);
  const tests = [{ name: 'a', description: 'b', payload: 'c', expected: 'kept' }];
  assert.equal((await saveDraft({ contents: 'old', lang: 'typescript', tests })).status, 200);
  const source = running('console.log("in", input); return input + "!";');
  const built = await build(source);
  assert.deepEqual([built.succeeded, 'diagnostics' in built], [true, false]);
  assert.match(built.outputLog, /The build succeeded\.$/);
  assert.deepEqual(await readDraft(), { contents: source, lang: 'javascript', tests });
  assert.deepEqual(await tryOut('é'), { result: 'é!', logs: ['in é'] });
  assert.equal(await deploy(), 'v1.0.0');
  for (const version of ['v1.0.0', 'newest']) {
    const { status, body, headers } = await run(version, 'Ada 😀');
    assert.deepEqual([status, body], [200, 'Ada 😀!']);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('a version always answers the same, whatever is deployed after it, and under no other spelling', async (t) => {
  const { build, deploy, run } = await startPlugin(t);
  for (const n of [0, 1, 2]) {
    await build(running(`return "${n}" + input;`));
    assert.equal(await deploy(), `v1.0.${n}`);
  }
  await build(running('return "not deployed";'));
  const bodies = await Promise.all(['v1.0.0', 'v1.0.1', 'v1.0.2', 'newest'].map((v) => run(v, 'x')));
  assert.deepEqual(
    bodies.map(({ body }) => body),
    ['0x', '1x', '2x', '2x'],
  );
  for (const version of ['v1.0.00', 'v01.0.0', 'v1.0.18446744073709551616'])
    assert.equal((await run(version)).status, 404, version);
});

test('a failed build saves the draft, reports where, and leaves nothing to test or deploy', async (t) => {
  const { build, readDraft, send, paths, editor } = await startPlugin(t);
  await build(running('return "good";'));
  const source = 'export function run(input) {\n  const text = "é😀"; return ;;) }\n';
  const { succeeded, diagnostics, outputLog } = await build(source);
  assert.equal(succeeded, false);
  assert.deepEqual(
    diagnostics?.map(({ line, column, severity }) => [line, column, severity]),
    [[2, 32, 'error']],
  );
  assert.match(outputLog, /2:32 error: [^]*The build failed\.$/);
  assert.deepEqual(await readDraft(), { contents: source, lang: 'javascript' });
  for (const path of [paths.test, paths.promote]) {
    const { status, body } = await send('POST', path, { ...editor, ...text }, '');
    assert.deepEqual([status, codeIn(body)], [409, 'not-built'], path);
  }
});

test('a source is run without being saved, and leaves nothing to read, test or deploy', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  const runSource = async (contents: string, lang = 'javascript') => {
    const path = paths.test.replace('/test/', `/test/${lang}/`);
    const headers = { ...editor, 'content-type': 'application/json' };
    const { status, body } = await send('POST', path, headers, JSON.stringify({ contents, payload: 'é' }));
    const { took: _, ...outcome } = JSON.parse(body) as {
      took?: number;
      error?: { code: string; message: string };
    };
    return { status, ...outcome };
  };
  const logs = running('console.log("in"); return input + "!";');
  assert.deepEqual(await runSource(logs), { status: 200, result: 'é!', logs: ['in'] });
  const failed = await runSource(running('throw new Error("no");'));
  assert.deepEqual([failed.status, failed.error?.code], [200, 'plugin-error']);
  const unbuilt = await runSource('export function run(');
  assert.deepEqual([unbuilt.status, unbuilt.error?.code], [409, 'not-built']);
  assert.match(unbuilt.error?.message ?? '', /^The source does not build: 1:21 ./);
  const slow = { failed: 'The build took too long.' };
  t.mock.method(sharedToolProcesses().builds, 'build', () => Promise.resolve(slow));
  assert.equal((await runSource(logs)).error?.message, `The source does not build: ${slow.failed}`);
  t.mock.reset();
  assert.equal((await runSource(logs, 'cobol')).status, 404);
  for (const [method, path] of [
    ['GET', paths.draft],
    ['POST', paths.test],
    ['POST', paths.promote],
  ] as const)
    assert.equal(codeIn((await send(method, path, editor)).body), 'draft-not-found');
});

test('a plugin is 404 to test and deploy without a draft, and 404 to run without a version', async (t) => {
  const { send, paths, editor, run, build } = await startPlugin(t);
  for (const path of [paths.test, paths.promote]) {
    const { status, body } = await send('POST', path, { ...editor, ...text }, '');
    assert.deepEqual([status, codeIn(body)], [404, 'draft-not-found']);
  }
  await build(running('return "";'));
  for (const version of ['v1.0.0', 'v1.0.99', 'v2.0.0', 'newest']) {
    const { status, body } = await run(version);
    assert.deepEqual([status, codeIn(body)], [404, 'version-not-found'], version);
  }
  for (const version of ['1.0.0', 'v1', 'v1.0.0-beta', 'latest']) {
    const { status, body } = await run(version);
    assert.deepEqual([status, codeIn(body)], [400, 'invalid-path'], version);
  }
});

test('each way in which a run can end has its status and its error name', async (t) => {
  const plugin = await startPlugin(t);
  const { build, deploy, run, test: tryOut } = plugin;
  await build('export function run(input) {\n  console.log("log");\n  return eval(input);\n}\n');
  await deploy();
  const cases: [input: string, status: number, code: string][] = [
    ['throw new Error("mine")', 422, 'plugin-error'],
    ['5', 422, 'plugin-error'],
    ['"x".repeat(2 ** 28)', 422, 'memory-limit'],
    ['(function f() { return f() + 1; })()', 422, 'stack-limit'],
    ['"x".repeat(2 ** 20 + 1)', 422, 'output-limit'],
    ['console.log("x".repeat(2 ** 20 + 1))', 422, 'log-limit'],
  ];
  const assertEnd = async ([input, status, code]: (typeof cases)[number]) => {
    const response = await run('v1.0.0', input);
    assert.deepEqual([response.status, codeIn(response.body)], [status, code], input);
    const { error, logs, result } = await tryOut(input);
    assert.deepEqual([error?.code, logs, result], [code, ['log'], undefined], input);
  };
  for (const one of cases) await assertEnd(one);
  assert.deepEqual([(await run('newest', '"after"')).body, (await tryOut('"a"')).result], ['after', 'a']);
  // Enough for a busy machine to get to the loop.
  await limitRuns(plugin, 3000);
  await assertEnd(['for (;;);', 504, 'time-limit']);
});

test('input may have 1 MiB of UTF-8, of any type that can be text', async (t) => {
  const { build, deploy, run, send, paths, editor } = await startPlugin(t);
  await build(running('return String(input.length);'));
  await deploy();
  const mebibyte = 1024 * 1024;
  assert.equal((await run('newest', 'x'.repeat(mebibyte))).body, String(mebibyte));
  assert.equal((await run('newest', 'a\0b')).body, '3');
  const invalid = new Uint8Array([0x61, 0xff]);
  const refused: [
    body: string | Uint8Array,
    headers: Record<string, string>,
    status: number,
    code: string,
  ][] = [
    ['x'.repeat(mebibyte + 1), text, 413, 'input-limit'],
    [invalid, text, 400, 'invalid-text'],
    ['x', { 'content-type': 'multipart/form-data; boundary=x' }, 415, 'unsupported-media-type'],
    ['x', { 'content-type': 'image/png' }, 415, 'unsupported-media-type'],
    ['x', { 'content-type': 'text/plain; charset=utf-16' }, 415, 'unsupported-media-type'],
    ['x', { ...text, 'content-encoding': 'gzip' }, 415, 'unsupported-media-type'],
  ];
  for (const [body, headers, status, code] of refused) {
    const execution = await run('v1.0.0', body, headers);
    const testing = await send('POST', paths.test, { ...editor, ...headers }, body);
    for (const response of [execution, testing]) {
      assert.deepEqual([response.status, codeIn(response.body)], [status, code], JSON.stringify(headers));
    }
  }
  for (const type of [
    'application/json',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'TEXT/plain; Charset="UTF-8"',
  ]) {
    assert.equal((await run('v1.0.0', 'é', { 'content-type': type })).body, '1', type);
  }
  assert.equal((await run('v1.0.0', 'é', {})).body, '1');
  // An empty body is none, whatever it says that it is.
  for (const type of ['multipart/form-data; boundary=x', 'text/plain; charset=utf-16']) {
    assert.equal((await run('v1.0.0', '', { 'content-type': type })).body, '0', type);
  }
});

test('a lone surrogate becomes U+FFFD in the output of a run, and is kept in that of a test', async (t) => {
  const { build, deploy, run, test: tryOut } = await startPlugin(t);
  await build(running('return "a\\ud83d\\0b";'));
  await deploy();
  assert.equal((await run('newest')).body, 'a\ufffd\0b');
  assert.equal((await tryOut()).result, 'a\ud83d\0b');
});

test('a build accepts only text up to 1 MiB in a known language', async (t) => {
  const { send, paths, editor, readDraft } = await startPlugin(t);
  const post = (lang: string, body: string | Uint8Array, headers: Record<string, string> = text) =>
    send('POST', paths.build(lang), { ...editor, ...headers }, body);
  const cases = [
    [await post('cobol', 'x'), 404, 'unknown-language'],
    [await post('javascript', 'x'.repeat(2 ** 20 + 1)), 413, 'too-large'],
    [await post('javascript', new Uint8Array([0xff])), 400, 'invalid-text'],
    [await post('javascript', 'x', { 'content-type': 'multipart/mixed' }), 415, 'unsupported-media-type'],
    [await send('GET', paths.draft, editor), 404, 'draft-not-found'],
  ] as const;
  for (const [{ status, body }, expected, code] of cases)
    assert.deepEqual([status, codeIn(body)], [expected, code]);
  const form = await post('javascript', running('return "";'), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  assert.equal(form.status, 200);
  assert.equal((await readDraft())['contents'], running('return "";'));
});

test("a build checks the draft's entity tag and answers with the new one", async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  const build = (source: string, headers: Record<string, string>) =>
    send('POST', paths.build('javascript'), { ...editor, ...text, ...headers }, source);
  const first = await build('first', { 'if-none-match': '*' });
  assert.equal(first.status, 200);
  const draft = await send('GET', paths.draft, editor);
  assert.equal(first.headers.etag, draft.headers.etag);
  assert.equal((await build('lost', { 'if-none-match': '*' })).status, 412);
  assert.equal((await build('lost', { 'if-match': '"other"' })).status, 412);
  const again = await build('first', { 'if-match': first.headers.etag ?? '' });
  assert.equal(again.headers.etag, first.headers.etag);
});

test('a build that another save overtook leaves that save unbuilt', async (t) => {
  const { send, paths, editor, saveDraft } = await startPlugin(t);
  const [begun, overtaken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { builds } = sharedToolProcesses();
  const build = builds.build.bind(builds);
  t.mock.method(builds, 'build', async (...args: Parameters<typeof build>) => {
    begun.resolve();
    await overtaken.promise;
    return build(...args);
  });
  const building = send('POST', paths.build('javascript'), { ...editor, ...text }, running('return "";'));
  await begun.promise;
  await saveDraft({ contents: 'newer', lang: 'javascript' });
  overtaken.resolve();
  assert.equal((await building).status, 200);
  assert.equal((await send('POST', paths.promote, editor)).status, 409);
});

test('each operation needs its own kind of token, for its own plugin or environment', async (t) => {
  const first = await startPlugin(t);
  await first.build(running('return "";'));
  await first.deploy();
  const { send, paths, editor, environmentToken, port } = first;
  const builder = [paths.build('javascript'), paths.test, paths.promote];
  const exec = [paths.exec('v1.0.0'), paths.newest];
  const other = await startPlugin(t, 't2', first);
  const stranger = { authorization: `Bearer ${await environmentToken('com.other')}` };
  const vendor = other.vendor;
  const cases: [path: string[], headers: Record<string, string>, status: number][] = [
    [[...builder, ...exec], {}, 401],
    [[...builder, ...exec], { authorization: 'Basic eA==' }, 401],
    [[...builder, ...exec], { authorization: 'Bearer unknown' }, 401],
    [builder, vendor, 401],
    [exec, editor, 401],
    [builder, other.editor, 403],
    [exec, stranger, 403],
    [exec, vendor, 200],
  ];
  for (const [all, headers, status] of cases) {
    for (const path of all) {
      const response = await send('POST', path, { ...headers, ...text }, '');
      assert.equal(response.status, status, `${path} ${JSON.stringify(headers)}`);
      assert.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
    }
  }
  for (const path of [...builder, ...exec]) {
    const response = await send('GET', path, { ...text });
    assert.deepEqual([response.status, response.headers.allow], [405, 'POST, OPTIONS'], path);
    assert.equal((await send('POST', path, { host: `evil.example:${port}` }, '')).status, 421, path);
  }
});

test('no page may call the execution interface, and any page may call the builder', async (t) => {
  const { send, paths } = await startPlugin(t);
  const origin = { origin: 'https://editor.example' };
  const preflight = {
    ...origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  };
  for (const path of [paths.exec('v1.0.0'), paths.newest]) {
    for (const response of [await send('OPTIONS', path, preflight), await send('POST', path, origin, '')]) {
      assert.deepEqual(
        Object.keys(response.headers).filter((name) => name.startsWith('access-control-')),
        [],
        path,
      );
    }
  }
  for (const path of [paths.build('javascript'), paths.test, paths.promote]) {
    assert.equal((await send('OPTIONS', path, preflight)).headers['access-control-allow-origin'], '*');
    assert.equal((await send('POST', path, origin, '')).headers['access-control-allow-origin'], '*');
  }
});

test('an identifier without a period is refused, and so is "name"', async (t) => {
  const { send, vendor } = await startPlugin(t);
  for (const path of ['/exec/name/default/add-record/v1.0.0', '/exec/acme/default/add-record/v1.0.0']) {
    const { status, body } = await send('POST', path, vendor, '');
    assert.deepEqual([status, codeIn(body)], [400, 'invalid-path'], path);
  }
});

// That of each other language: in the tests of the toolchains.
test('the features list each toolchain, and a template builds and passes its own tests', async (t) => {
  const { fetch } = await startService(t);
  const { languages } = (await (await fetch('/api/v1/features')).json()) as {
    languages: { identifier: string }[];
  };
  assert.ok(languages.length >= 3);
  const { build, test: tryOut, deploy, run } = await startPlugin(t);
  const template = await fetch('/api/v2/template/typescript/add-record?namespace=n%22s');
  const { contents, tests } = (await template.json()) as { contents: string; tests: { payload: string }[] };
  assert.equal((await build(contents, 'typescript')).succeeded, true);
  for (const { payload } of tests) {
    const hello = `Hello, ${payload || 'world'}! This is add-record in n"s.`;
    assert.deepEqual(await tryOut(payload), { result: hello });
  }
  await deploy();
  assert.equal((await run('v1.0.0', '\0😀')).body, 'Hello, \0😀! This is add-record in n"s.');
});

test('an error outside the interface is answered in JSON', async (t) => {
  const { fetch } = await startService(t);
  for (const path of [
    '/exec',
    '/exec/com.acme.t1/default/x',
    '/api/v1/build/javascript',
    '/api/v1/draft/a.b/c/d/promote/x',
  ]) {
    assert.equal((await errorOf(await fetch(path, { method: 'POST' }))).status, 404, path);
  }
});

test('a test with invalid input looks nothing up of its plugin', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  const { status, body } = await send(
    'POST',
    paths.test,
    { ...editor, ...text },
    'x'.repeat(runLimits.input + 1),
  );
  // There is no draft: that would be the response if the plugin were looked at first.
  assert.deepEqual([status, codeIn(body)], [413, 'input-limit']);
});
