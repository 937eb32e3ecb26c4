import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { bearer, startService } from '../harness.ts';

/** The plugin that the tests of types build and run. */
export const plugin = 'com.acme.t1/default/add-record';
const namespace = '/api/v1/environment/com.acme/namespaces/default';

/** What the plugins of the namespace take and return: a name and perhaps a count, and a text. */
export const types = {
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Whom to greet.' },
      count: { $ref: '#/$defs/count' },
    },
    required: ['name'],
    additionalProperties: false,
    $defs: { count: { type: 'integer', minimum: 1 } },
  },
  output: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  samples: [
    { name: 'one', input: { name: 'Ada', count: 2 }, output: { text: 'Ada 2' } },
    { name: 'another', description: 'Without a count.', input: { name: 'Bo' } },
  ],
};

/** The headers of a body in JSON. */
export const asJson = { 'content-type': 'application/json' };

/** A service, with what a vendor and an author do with one plugin, in whose namespace the vendor can set types. */
export async function startTypedPlugin(t: TestContext, options: Parameters<typeof startService>[1] = {}) {
  const running = await startService(t, options);
  const { fetch } = running;
  const environment = await running.environmentToken();
  const vendor = bearer(environment);
  const editor = bearer(await running.editorToken(`/auth/v2/access/${plugin}`, environment));
  const setTypes = async (details: unknown) => {
    const response = await fetch(namespace, {
      method: 'PUT',
      headers: { ...vendor, ...asJson },
      body: JSON.stringify(details),
    });
    assert.ok(response.ok, await response.clone().text());
  };
  const deleteTypes = () => fetch(namespace, { method: 'DELETE', headers: vendor });
  const build = async (source: string, language = 'javascript') => {
    const response = await fetch(`/api/v1/build/${language}/${plugin}`, {
      method: 'POST',
      headers: editor,
      body: source,
    });
    return (await response.json()) as {
      succeeded: boolean;
      outputLog: string;
      diagnostics?: { message: string }[];
    };
  };
  const run = async (body: string, path = `/exec/name/${plugin}`, headers: Record<string, string> = {}) =>
    fetch(path, { method: 'POST', headers: { ...vendor, ...headers }, body });
  const tryOut = async (body: string) => {
    const response = await fetch(`/api/v1/test/${plugin}`, { method: 'POST', headers: editor, body });
    assert.equal(response.status, 200, await response.clone().text());
    const { took, ...end } = (await response.json()) as { took: number };
    assert.ok(took >= 0);
    return end;
  };
  const deploy = () => fetch(`/api/v1/draft/${plugin}/promote`, { method: 'POST', headers: editor });
  const read = async (path: string) =>
    (await fetch(path, { headers: vendor })).json() as Promise<Record<string, unknown>>;
  return { ...running, vendor, editor, setTypes, deleteTypes, build, run, tryOut, deploy, read };
}

/** A plugin in JavaScript that fits the types. */
export const greeting = `export function run(input) {
  console.log('ran');
  return { text: input.name + ' ' + (input.count ?? 1) };
}
`;
