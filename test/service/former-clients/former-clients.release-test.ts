import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPackages } from '../../packages/packages.ts';
import { bearer, listen } from '../harness.ts';
import { until } from '../../support/until.ts';

interface AxiosResponse {
  status: number;
  data: unknown;
  headers: Record<string, string>;
}

interface Axios {
  get(url: string, options?: object): Promise<AxiosResponse>;
  post(url: string, body: unknown, options?: object): Promise<AxiosResponse>;
  patch(url: string, body: unknown, options?: object): Promise<AxiosResponse>;
  delete(url: string, options?: object): Promise<AxiosResponse>;
}

// It sends text and bytes, and bodies that are not there, as a form; and parses whatever looks like JSON.
const { default: axios } = (await testPackages())('axios') as {
  default: Axios;
};

const source = 'export const run = (input) => "Hello " + input;';
const bytesOf = (text: string) => new TextEncoder().encode(text).buffer;

test('an unchanged client of version 0.5 works, from the list of languages to the results of runs', async (t) => {
  const { port, environmentToken } = await listen(t);
  const base = `http://127.0.0.1:${port}`;
  const vendor = { headers: bearer(await environmentToken()) };
  const ident = 'com.acme.t1';
  const plugin = `${ident}/default/greet`;

  const features = await axios.get(`${base}/api/v1/features`);
  assert.ok((features.data as { features: string[] }).features.includes('testing'));
  const template = await axios.get(`${base}/api/v2/template/javascript/greet`);
  assert.match((template.data as { contents: string }).contents, /run/);

  assert.equal((await axios.post(`${base}/api/v1/tenant/${ident}`, null, vendor)).status, 201);
  const changed = await axios.patch(`${base}/api/v1/tenant/${ident}`, { description: 'Seven' }, vendor);
  assert.equal((changed.data as { description: string }).description, 'Seven');
  const tenants = await axios.get(`${base}/api/v1/environment/com.acme`, vendor);
  assert.equal((tenants.data as { tenants: unknown[] }).tenants.length, 1);

  const target = { identifier: ident, namespace: 'default', fn: 'greet' };
  const session = await axios.post(`${base}/api/v1/tenant/${ident}/session`, target, vendor);
  const { token } = session.data as { token: string };
  const editor = { headers: bearer(token) };
  const built = await axios.post(`${base}/api/v1/build/javascript/${plugin}`, source, editor);
  assert.equal((built.data as { succeeded: boolean }).succeeded, true);
  const draft = await axios.get(`${base}/api/v1/draft/${plugin}`, editor);
  const saved = await axios.post(`${base}/api/v1/draft/${plugin}`, draft.data, editor);
  assert.deepEqual(saved.data, draft.data);
  const tested = await axios.post(`${base}/api/v1/test/${plugin}`, bytesOf('Ada'), editor);
  assert.equal((tested.data as { result: string }).result, 'Hello Ada');
  const deployed = await axios.post(`${base}/api/v1/draft/${plugin}/promote`, null, editor);
  assert.equal((deployed.data as { version: string }).version, 'v1.0.0');

  for (const path of [`${plugin}/v1.0.0`, `name/${plugin}`]) {
    const run = await axios.post(`${base}/exec/${path}`, bytesOf('Bo'), vendor);
    assert.equal(run.data, 'Hello Bo');
    assert.equal(run.headers['x-suborbital-requestid'], run.headers['x-request-id']);
  }
  const functions = await axios.get(`${base}/api/v2/functions/${ident}/default`, vendor);
  assert.equal((functions.data as { plugins: { version: string }[] }).plugins[0]?.version, 'v1.0.0');
  const results = async () => {
    const { data } = await axios.get(`${base}/api/v2/results/by-fqmn/${plugin}/v1.0.0`, vendor);
    return (data as { results: { uuid: string; success: boolean; error: object }[] }).results;
  };
  // Runs are recorded a moment after their responses.
  await until('both runs are recorded', async () => (await results()).length === 2);
  const [latest] = await results();
  assert.deepEqual([latest?.success, latest?.error], [true, {}]);
  const one = await axios.get(`${base}/api/v2/results/by-uuid/${latest?.uuid}`, vendor);
  assert.deepEqual(one.data, latest);

  assert.equal((await axios.delete(`${base}/api/v1/tenant/${ident}`, vendor)).status, 204);
});
