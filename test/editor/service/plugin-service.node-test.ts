import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { TokenHolder } from '../../../editor/src/service/token-holder.ts';
import { PluginService } from '../../../editor/src/service/plugin-service.ts';
import { HttpError, SchemaError } from 'plugin-editor/client.js';
import { startEditorService } from '../harness.ts';

const contents =
  'export function run(input: string): string {\n  console.log(input);\n  return input + "!";\n}\n';

async function setUp(t: TestContext) {
  const service = await startEditorService({ editor: false });
  t.after(() => service.close());
  const token = await service.token();
  const target = { builder: service.origin, ident: 'com.acme.t1', namespace: 'default', fn: 'add-record' };
  const plugin = new PluginService(service.origin, target, new TokenHolder(token));
  const logs: string[] = [];
  const { signal } = new AbortController();
  const build = (text: string, more: { stream?: boolean; etag?: string } = {}) =>
    plugin.build({
      lang: 'typescript',
      contents: text,
      stream: true,
      onLog: (line) => logs.push(line),
      signal,
      ...more,
    });
  return { service, plugin, build, logs, signal };
}

describe('PluginService', () => {
  test('builds with a streamed log, runs and deploys', async (t) => {
    const { service, plugin, build, logs, signal } = await setUp(t);
    const { result, etag } = await build(contents);
    assert.equal(result.succeeded, true);
    assert.equal(logs.join('\n'), result.outputLog);
    assert.ok(logs.length > 1);
    assert.ok(etag);
    assert.equal((await service.draft())?.contents, contents);
    const { took, ...outcome } = await plugin.test('hi', signal);
    assert.deepEqual(outcome, { result: 'hi!', logs: ['hi'] });
    assert.ok(took && took > 0);
    assert.deepEqual(await plugin.deploy({ signal }), { version: 'v1.0.0', live: 'v1.0.0' });
    assert.deepEqual(await plugin.deploy({ signal }), {
      version: 'v1.0.0',
      unchanged: true,
      live: 'v1.0.0',
    });
    assert.deepEqual(await plugin.progress(signal), {
      built: true,
      deployed: { version: 'v1.0.0', current: true },
    });
  });

  test('builds without streaming, too', async (t) => {
    const { build, logs } = await setUp(t);
    const { result } = await build('export const run = 1;\n', { stream: false });
    assert.equal(result.succeeded, false);
    assert.equal(result.diagnostics?.[0]?.line, 1);
    assert.deepEqual(logs, [result.outputLog]);
  });

  test('returns a failed run as an outcome, with its code and its logs', async (t) => {
    const { plugin, build, signal } = await setUp(t);
    await build(
      'export function run(input: string): string {\n  console.log("so far");\n  throw new Error(input);\n}\n',
    );
    const outcome = await plugin.test('oh no', signal);
    assert.ok('error' in outcome);
    assert.match(outcome.error.message, /oh no/);
    assert.deepEqual(outcome.logs, ['so far']);
  });

  test('does not replace a draft other than the one meant', async (t) => {
    const { service, build } = await setUp(t);
    await service.save({ contents: 'theirs', lang: 'typescript' });
    await assert.rejects(build(contents, { etag: '"gone"' }), (error) => (error as HttpError).status === 412);
    assert.equal((await service.draft())?.contents, 'theirs');
  });

  test('checks a text without saving it', async (t) => {
    const { service, plugin, signal } = await setUp(t);
    const found = await plugin.check(
      'typescript',
      'export const run = (input: string) => nothing;\n',
      signal,
    );
    assert.deepEqual(
      found.map(({ line, column }) => [line, column]),
      [[1, 39]],
    );
    assert.deepEqual(await plugin.check('typescript', contents, signal), []);
    assert.equal(await service.draft(), undefined);
    assert.deepEqual(await plugin.progress(signal), { built: false });
  });

  test('rejects a build whose stream is cut off, or ends without a result', async (t) => {
    const { service, build } = await setUp(t);
    const events = { 'content-type': 'text/event-stream' };
    service.script.respond = () => new Response('event: log\ndata: half\n\n', { headers: events });
    await assert.rejects(build(contents), SchemaError);
    service.script.respond = () =>
      new Response('event: result\ndata: {"succeeded":1}\n\n', { headers: events });
    await assert.rejects(build(contents), SchemaError);
  });

  test('rejects the response to a build that would fill the memory, streamed or not', async (t) => {
    const { service, build } = await setUp(t);
    const outputLog = 'x'.repeat(10 * 2 ** 20);
    const body = JSON.stringify({ succeeded: true, outputLog });
    service.script.respond = () => new Response(body, { headers: { 'content-type': 'application/json' } });
    await assert.rejects(build(contents, { stream: false }), /larger than 8388608 bytes/);
    const events = `event: result\ndata: ${body}\n\n`;
    service.script.respond = () => new Response(events, { headers: { 'content-type': 'text/event-stream' } });
    await assert.rejects(build(contents), /larger than 8388608 bytes/);
  });

  test('reports how long a busy service asks to wait', async (t) => {
    const { service, build } = await setUp(t);
    service.script.respond = () => new Response('{}', { status: 503, headers: { 'retry-after': '2' } });
    await assert.rejects(build(contents), (error) => (error as HttpError).retryAfter === 2000);
  });

  test("neither checks nor reads a plugin's status without that plugin’s token", async (t) => {
    const { service, signal } = await setUp(t);
    const target = { builder: service.origin, ident: 'com.acme.t1', namespace: 'default', fn: 'another' };
    for (const [token, status] of [
      [await service.token(), 403],
      ['unknown', 401],
    ] as const) {
      const other = new PluginService(service.origin, target, new TokenHolder(token));
      const refused = (error: unknown) => (error as HttpError).status === status;
      await assert.rejects(other.check('typescript', contents, signal), refused);
      await assert.rejects(other.progress(signal), refused);
    }
  });
});
