import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Builder, startBuilder } from './builder.ts';
import { blocksIn, read, snippet } from './markdown.ts';
import { type Project, createProject } from './package.ts';

// The page on namespaces with types, from the schema to the run, with the real service.

const page = read('docs/guides/typed-namespaces.md');
const PLACE = 'com.acme.customer-7/prices/price-rule';

let builder: Builder;
let place: Project;
let editorToken: string;

before(async () => {
  [builder, place] = await Promise.all([startBuilder(), createProject({})]);
  process.env['ENVIRONMENT_TOKEN'] = builder.environmentToken;
  const places = { 'https://builder.example.com': builder.origin };
  await place.write('say-types.ts', snippet('say-types.ts', places));
  const runs = { 'https://run.example.com': `${builder.origin}/exec` };
  await place.write('ask-price.ts', snippet('ask-price.ts', runs));
  const access = await builder.call(`/auth/v2/access/${PLACE}`, builder.environmentToken);
  editorToken = ((await access.json()) as { token: string }).token;
});
after(async () => {
  await place?.[Symbol.asyncDispose]();
  await builder?.[Symbol.asyncDispose]();
});

const sendRequest = async (path: string, body?: string) => {
  const response = await builder.call(`/api/v1/${path}`, editorToken, body);
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as Record<string, unknown>;
};

test('the service accepts the schemas of the page twice, and returns the types that it shows', async () => {
  const { sayTypes } = await place.load<{ sayTypes: () => Promise<object> }>('say-types.ts');
  const first = await sayTypes();
  assert.deepEqual(await sayTypes(), first);
  const { declarations } = await sendRequest(`types/${PLACE}`);
  const shown = blocksIn(page).find(({ name }) => name === 'types')?.code ?? '';
  const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  assert.ok(plain(String(declarations)).includes(plain(shown)), String(declarations));
});

test('the plugin of the page builds, passes its sample and runs, and the list price applies when it fails', async () => {
  const { askPrice } = await place.load<{
    askPrice: (customer: string, offer: object, listPrice: number) => Promise<number>;
  }>('ask-price.ts');
  const offer = (count: number) => ({ product: { name: 'Rye loaf', unitPrice: 450 }, count });

  const deploy = async (contents: string) => {
    const { succeeded, outputLog } = await sendRequest(`build/javascript/${PLACE}`, contents);
    assert.equal(succeeded, true, String(outputLog));
    await sendRequest(`draft/${PLACE}/promote`, '');
  };
  await deploy(snippet('price-rule.js'));
  const { samples } = (await sendRequest(`types/${PLACE}`)) as {
    samples: { input: object; output: object }[];
  };
  for (const { input, output } of samples) {
    const { result } = await sendRequest(`test/${PLACE}`, JSON.stringify(input));
    assert.deepEqual(JSON.parse(String(result)), output);
  }
  assert.equal(await askPrice('customer-7', offer(12), 450), 405);
  assert.equal(await askPrice('customer-7', offer(1), 450), 450);

  const logged: unknown[] = [];
  const { warn } = console;
  console.warn = (text) => logged.push(text);
  try {
    assert.equal(await askPrice('customer-7', offer(0), 99), 99);
    await deploy('export const run = () => ({ unitPrice: /** @type {any} */ ("free") });\n');
    assert.equal(await askPrice('customer-7', offer(1), 450), 450);
  } finally {
    console.warn = warn;
  }
  assert.deepEqual(logged, [
    'customer-7: invalid-input at /count',
    'customer-7: invalid-output at /unitPrice',
  ]);
});

test('the library of the page on libraries is published twice, and its plugin imports it', async () => {
  await place.write(
    'publish-library.ts',
    snippet('publish-library.ts', { 'https://builder.example.com': builder.origin }),
  );
  const { publishLibrary } = await place.load<{ publishLibrary: () => Promise<void> }>('publish-library.ts');
  await publishLibrary();
  await publishLibrary();
  const at = 'com.acme.customer-7/default/round-price';
  const access = await builder.call(`/auth/v2/access/${at}`, builder.environmentToken);
  const { token } = (await access.json()) as { token: string };
  const built = await builder.call(`/api/v1/build/javascript/${at}`, token, snippet('round-price.js'));
  assert.equal(((await built.json()) as { succeeded: boolean }).succeeded, true);
  const tried = await builder.call(`/api/v1/test/${at}`, token, '1.239');
  assert.equal(((await tried.json()) as { result: string }).result, '1.24');
});
