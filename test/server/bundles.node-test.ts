import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const source = (name: string) => fileURLToPath(new URL(`../../src/${name}`, import.meta.url));

/** Bundles a module of a page or a worker. */
async function bundle(code: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'own-module',
        enforce: 'pre',
        resolveId: (id) => (/(^|\/)own$/.test(id) ? '\0own.js' : undefined),
        load: (id) => (id === '\0own.js' ? code : undefined),
      },
    ],
    build: { write: false, minify: false, lib: { entry: 'own', formats: ['es'] } },
  });
  const [{ output }] = result as unknown as [{ output: { code: string; imports: string[] }[] }];
  assert.deepEqual(output[0]?.imports, []);
  return output[0].code;
}

describe('a bundle', () => {
  test('for a browser fails, naming the import that is for servers', async () => {
    const file = source('environment-token-must-never-reach-a-browser.ts');
    const code = `import { createTokenEndpoint } from ${JSON.stringify(file)}; console.log(createTokenEndpoint);`;
    await assert.rejects(bundle(code), /environment-token-must-never-reach-a-browser/);
  });

  test('for a worker contains all of server.js, and nothing of Node', async () => {
    const code = await bundle(`export * from ${JSON.stringify(source('server.ts'))};`);
    assert.match(code, /createTokenEndpoint/);
    assert.match(code, /toNodeHandler/);
    assert.doesNotMatch(code, /["']node:|\brequire\(|\bprocess\.|\bBuffer\./);
  });
});
