import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpLimits } from '../../../service/src/toolchains/language-help/limits.ts';
import { bearer, errorOf, startService } from '../harness.ts';

const path = '/api/v1/language-help/javascript/com.acme.t1/default/add-record';
const contents = 'export const run = (input) => input.trim();';
const hover = { method: 'textDocument/hover', params: { position: { line: 0, character: 31 } } };

async function start(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const token = await service.editorToken();
  const requestHelp = (body: unknown, { at = path, of = token, signal = null as AbortSignal | null } = {}) =>
    service.fetch(at, {
      method: 'POST',
      headers: { ...bearer(of), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  return { ...service, token, requestHelp };
}

test('language help is answered from the source in the request, on any node', async (t) => {
  const first = await start(t);
  const response = await first.requestHelp({ contents, request: hover });
  assert.equal(response.status, 200);
  const { result } = (await response.json()) as { result: { contents: { value: string } } };
  assert.match(result.contents.value, /\(parameter\) input: string/);
  const second = await start(t);
  assert.deepEqual(await (await second.requestHelp({ contents, request: hover })).json(), { result });
});

test('only the editor token of the plugin gets language help', async (t) => {
  const { requestHelp, editorToken } = await start(t);
  const other = await editorToken('/auth/v2/access/com.acme.t1/default/other');
  assert.equal((await requestHelp({ contents, request: hover }, { of: other })).status, 403);
  assert.equal((await requestHelp({ contents, request: hover }, { of: 'wrong' })).status, 401);
});

test('an invalid request for language help is refused with what would be right', async (t) => {
  const { requestHelp } = await start(t);
  const refused: [body: unknown, status: number, code: string, message: RegExp][] = [
    [{ request: hover }, 422, 'invalid-body', /contents/],
    [{ contents }, 422, 'invalid-body', /request/],
    [{ contents, request: { ...hover, method: 'workspace/executeCommand' } }, 422, 'invalid-body', /method/],
    [
      {
        contents,
        request: { method: 'textDocument/hover', params: { position: { line: -1, character: 0 } } },
      },
      422,
      'invalid-body',
      /line/,
    ],
    [
      { contents, request: { method: 'textDocument/rename', params: { ...hover.params, newName: '1 + 1' } } },
      422,
      'invalid-body',
      /must be a name/,
    ],
    [{ contents: 'x'.repeat(helpLimits.source + 1), request: hover }, 413, 'too-large', /262144 characters/],
  ];
  for (const [body, status, code, message] of refused) {
    const error = await errorOf(await requestHelp(body));
    assert.deepEqual([error.status, error.code], [status, code], JSON.stringify(body).slice(0, 200));
    assert.match(error.message, message);
  }
});

test('a language without help is reported as such', async (t) => {
  const { requestHelp } = await start(t);
  const error = await errorOf(
    await requestHelp({ contents, request: hover }, { at: path.replace('javascript', 'assemblyscript') }),
  );
  assert.deepEqual([error.status, error.code], [404, 'no-language-help']);
});

test('simultaneous requests are all answered, or replaced by the next one of their kind', async (t) => {
  const { requestHelp } = await start(t);
  const responses = await Promise.all(
    Array.from({ length: 30 }, () => requestHelp({ contents, request: hover })),
  );
  const statuses = new Set(responses.map(({ status }) => status));
  assert.ok(statuses.has(200));
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 409),
    [],
  );
});
