import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BuilderClient, joinIdent } from '../../../src/client.ts';
import { AccessClient, ExecutionClient } from '../../../src/server.ts';
import { type Builder, ENVIRONMENT, startBuilder } from '../../docs/builder.ts';

// The clients with the real plugin service, which must accept what they send.

const TENANT = 'customer-7';
const LOCATION = { environment: ENVIRONMENT, userID: TENANT, pluginName: 'add-record' };
const identifier = joinIdent({ environment: ENVIRONMENT, tenant: TENANT });
const DOUBLE =
  'export const run = (text) => { console.log("in", text); return String(JSON.parse(text) * 2); };';
const source = (contents: string) => ({ contents, lang: 'javascript' });

let service: Builder;
let builder: BuilderClient;
let execution: ExecutionClient;
before(async () => {
  service = await startBuilder();
  const { origin, environmentToken } = service;
  const access = new AccessClient({ builderUrl: origin, environmentToken });
  const { token } = await access.getEditorToken({ identifier, ext: LOCATION.pluginName });
  builder = new BuilderClient({ baseUrl: origin, token });
  execution = new ExecutionClient({ executionUrl: `${origin}/exec`, environmentToken });
});
after(() => service?.[Symbol.asyncDispose]());

describe('the clients with the service', () => {
  test('save a draft where there is none, and replace the one that was read', async () => {
    await assert.rejects(builder.readDraft(LOCATION), { status: 404, code: 'draft-not-found' });
    const first = await builder.saveDraft(LOCATION, source('a'), { etag: null });
    assert.equal(first.source.contents, 'a');
    assert.deepEqual(await builder.readDraft(LOCATION), first);
    await assert.rejects(builder.saveDraft(LOCATION, source('b'), { etag: null }), {
      status: 412,
      code: 'precondition-failed',
    });
    const second = await builder.saveDraft(LOCATION, source('b'), { etag: first.etag });
    assert.notEqual(second.etag, first.etag);
    await assert.rejects(builder.saveDraft(LOCATION, source('c'), { etag: first.etag }), { status: 412 });
    assert.equal((await builder.getDraft(LOCATION)).contents, 'b');
  });

  test('build with a log, test, deploy and run', async () => {
    const lines: string[] = [];
    const failed = await builder.build({ ...LOCATION, language: 'javascript' }, 'export const run = (', {
      onLog: (line) => lines.push(line),
    });
    assert.equal(failed.succeeded, false);
    assert.equal(lines.join('\n'), failed.outputLog);
    assert.equal(failed.diagnostics?.[0]?.line, 1);
    await assert.rejects(builder.deploy(LOCATION), { status: 409, code: 'not-built' });

    const built = await builder.build({ ...LOCATION, language: 'javascript' }, DOUBLE);
    assert.equal(built.succeeded, true);
    const tested = await builder.test(LOCATION, '21');
    assert.deepEqual([tested.result, tested.logs], ['42', ['in 21']]);
    const { result, error } = await builder.test(LOCATION, 'no JSON');
    assert.deepEqual([result, error?.code], [undefined, 'plugin-error']);

    assert.equal((await builder.deploy(LOCATION)).version, 'v1.0.0');
    assert.deepEqual(await builder.deploy(LOCATION).then(({ version, unchanged }) => [version, unchanged]), [
      'v1.0.0',
      true,
    ]);

    const plugin = { identifier, pluginName: LOCATION.pluginName };
    assert.equal(await execution.run({ ...plugin, version: '1.0.0' }, '4'), '8');
    const { output, requestId, version, took } = await execution.runWithDetails(plugin, '5');
    assert.deepEqual([output, version], ['10', 'v1.0.0']);
    assert.ok(requestId && took !== undefined && took >= 0);
  });

  test('report why a run failed', async () => {
    const plugin = { identifier, pluginName: LOCATION.pluginName };
    await assert.rejects(execution.run(plugin, 'no JSON'), (error: Error & { requestId?: string }) => {
      assert.deepEqual([error.name, (error as { code?: string }).code], ['RunError', 'plugin-error']);
      assert.match(error.message, /unexpected token/);
      assert.ok(error.requestId);
      return true;
    });
    await assert.rejects(execution.run({ ...plugin, version: 'v9.0.0' }, ''), {
      name: 'RunError',
      status: 404,
      code: 'version-not-found',
    });
  });
});
