import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../service/src/http/create-service.ts';
import { bearer, listen } from './harness.ts';

export interface BuildResponse {
  succeeded: boolean;
  outputLog: string;
  diagnostics?: { line: number; column: number; message: string; severity: string }[];
}

export interface TestResponse {
  result?: string;
  error?: { code: string; message: string };
  logs?: string[];
}

/** A running service and what a client does with one of its plugins, by HTTP. */
export async function startPlugin(
  t: TestContext,
  tenant = 't1',
  running?: Awaited<ReturnType<typeof listen>> & { vendor: ReturnType<typeof bearer> },
  options: Partial<ServiceOptions> = {},
) {
  const service = running ?? (await listen(t, options));
  const { send, environmentToken } = service;
  const path = `com.acme.${tenant}/default/add-record`;
  // A new one would end the one before.
  const vendor = running?.vendor ?? bearer(await environmentToken());
  const issued = await send('GET', `/auth/v2/access/${path}`, vendor);
  const { token } = JSON.parse(issued.body) as { token: string };
  const editor = bearer(token);
  const text = { 'content-type': 'text/plain; charset=utf-8' };
  const okay = (response: { status: number; body: string }): unknown => {
    assert.equal(response.status, 200, response.body);
    return JSON.parse(response.body);
  };
  const paths = {
    draft: `/api/v1/draft/${path}`,
    build: (lang: string) => `/api/v1/build/${lang}/${path}`,
    test: `/api/v1/test/${path}`,
    promote: `/api/v1/draft/${path}/promote`,
    exec: (version: string) => `/exec/${path}/${version}`,
    newest: `/exec/name/${path}`,
  };
  return {
    ...service,
    vendor,
    editor,
    paths,
    saveDraft: (record: object) =>
      send('POST', paths.draft, { ...editor, 'content-type': 'application/json' }, JSON.stringify(record)),
    readDraft: async () => okay(await send('GET', paths.draft, editor)) as Record<string, unknown>,
    build: async (source: string, lang = 'javascript') =>
      okay(await send('POST', paths.build(lang), { ...editor, ...text }, source)) as BuildResponse,
    /** Without the time that the run took, which is another one each time. */
    test: async (payload = '') => {
      const { took, ...outcome } = okay(
        await send('POST', paths.test, { ...editor, ...text }, payload),
      ) as TestResponse & { took: number };
      assert.ok(took > 0, 'a test says how long the run took');
      return outcome;
    },
    deploy: async () => (okay(await send('POST', paths.promote, editor)) as { version: string }).version,
    run: (version: string, input: string | Uint8Array = '', headers: Record<string, string> = text) =>
      send(
        'POST',
        version === 'newest' ? paths.newest : paths.exec(version),
        { ...vendor, ...headers },
        input,
      ),
  };
}

/** A JavaScript plugin whose `run` does this to its `input`. */
export const running = (body: string) => `export function run(input) { ${body} }\n`;
