import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, startService } from '../harness.ts';

test('smoke', async (t) => {
  const { fetch, environmentToken, editorToken } = await startService(t);
  const token = await environmentToken();
  const put = await fetch('/api/v1/environment/com.acme/namespaces/default', {
    method: 'PUT', headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ input: { type: 'object', properties: { name: { type: 'string' }, n: { $ref: '#/$defs/n' } }, required: ['name'], $defs: { n: { type: 'integer', minimum: 1 } } }, output: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }, samples: [{name:'a', input:{name:'x'}, output:{text:'y'}}] }),
  });
  console.log(put.status, await put.text());
  const editor = await editorToken(undefined, token);
  console.log(await (await fetch('/api/v1/types/com.acme.t1/default/add-record', { headers: bearer(editor) })).json());
  for (const [lang, src] of [['typescript', 'export async function run(input: Input): Promise<Output> { return { text: input.name + (input.n ?? "") }; }'], ['typescript', 'export function run(input: string): string { return input }'], ['javascript', 'export const run = (input) => { if (input.n === 9) return 1; return { text: input.nam.trim() }; }'], ['javascript', 'export const run = (input) => { console.log("ran"); if (input.n === 9) return 1; if (input.n === 8) return {text: "a", z: 1n};  return { text: input.name.trim(), x: input.n === 7 ? NaN: 1 }; }']]) {
    const built = await fetch(`/api/v1/build/${lang}/com.acme.t1/default/add-record`, { method: 'POST', headers: bearer(editor), body: src! });
    console.log(await built.text());
  }
  const at = performance.now();
  for (const input of ['{"name":"Ada"}', '{"name":"Ada","n":9}','{"name":"Ada","n":8}','{"name":"Ada","n":7}', '{"name":1}', '{', '{"n":3,"name":"x"}']) {
    const r = await fetch('/api/v1/test/com.acme.t1/default/add-record', { method: 'POST', headers: bearer(editor), body: input });
    console.log(r.status, await r.text());
  }
  console.log(performance.now() - at);
  const d = await fetch('/api/v1/draft/com.acme.t1/default/add-record/promote', { method: 'POST', headers: bearer(editor) });
  console.log(await d.text());
  for (const input of ['{"name":"Ada"}', '{"name":3}', '{"name":"Ada","n":9}']) {
  const r = await fetch('/exec/name/com.acme.t1/default/add-record', { method: 'POST', headers: {...bearer(token), 'content-type': 'image/png'}, body: input });
  console.log(r.status, r.headers.get('content-type'), await r.text(), r.headers.get('server-timing'));
  }
  const p = await fetch('/api/v1/plugin/com.acme.t1/default/add-record', { headers: bearer(token) });
  console.log(await p.text());
});
