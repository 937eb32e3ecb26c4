import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'vite';
import { modules, packed, scripts } from './fixture.ts';

/** Bundles a module of an application. Resolves with the code and the bundled modules. */
async function bundle(code: string, options: { conditions?: string[] } = {}) {
  const own = join(packed.consumer, 'own.js');
  const result = await build({
    root: packed.consumer,
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'own-module',
        enforce: 'pre',
        resolveId: (id) => (id === own ? own : undefined),
        load: (id) => (id === own ? code : undefined),
      },
    ],
    ...(options.conditions && { resolve: { conditions: options.conditions } }),
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      modulePreload: { polyfill: false },
      rolldownOptions: { input: own, external: /^node:/ },
    },
  });
  const { output } = result as {
    output: { code: string; modules: Record<string, { code: string | null }> }[];
  };
  const [chunk] = output;
  assert.ok(chunk);
  const used = Object.entries(chunk.modules).flatMap(([id, { code: text }]) => (text ? [id] : []));
  // Paths differ if the folder is a link.
  return { code: chunk.code.trim(), used: used.map((id) => id.replace(/^.*\/node_modules\//, '')) };
}

const use = (specifier: string) => `import * as used from '${specifier}'; console.log(used);`;

/** The conditions of a bundler for a worker. */
const WORKER = { conditions: ['workerd', 'worker', 'browser', 'import', 'module'] };

for (const specifier of modules) {
  test(`a bundler resolves the module ${specifier}`, async () => {
    const { used } = await bundle(use(specifier), specifier.endsWith('/server.js') ? WORKER : {});
    assert.ok(used.some((id) => id.startsWith('plugin-editor/dist/')));
  });
}

for (const specifier of scripts.filter((path) => path.endsWith('.js'))) {
  test(`a bundler resolves the script ${specifier}`, async () => {
    const { used } = await bundle(`import '${specifier}';`);
    assert.deepEqual(used, [specifier]);
  });
}

test('client.js bundles neither Lit nor an element', async () => {
  const { used } = await bundle(use('plugin-editor/client.js'));
  assert.ok(used.includes('plugin-editor/dist/core/client/builder-client.js'));
  assert.deepEqual(
    used.filter((id) => /lit|\/element\/|^react/.test(id)),
    [],
  );
});

test('the elements bundle no zod', async () => {
  const { used } = await bundle(use('plugin-editor'));
  assert.deepEqual(
    used.filter((id) => id.startsWith('zod')),
    [],
  );
});

const ELEMENTS = ['plugin-editor', 'plugin-features'];

for (const [name, other] of [ELEMENTS, ELEMENTS.toReversed()]) {
  for (const code of [
    `import 'plugin-editor/${name}.js';`,
    `import { ${name === 'plugin-editor' ? 'PluginEditorElement' : 'PluginFeaturesElement'} as Used } from 'plugin-editor/elements.js'; console.log(Used);`,
  ]) {
    test(`<${name}> does not bundle <${other}>: ${code}`, async () => {
      const { used } = await bundle(code);
      assert.ok(used.includes(`plugin-editor/dist/element/${name}.js`));
      assert.ok(!used.includes(`plugin-editor/dist/element/${other}.js`));
    });
  }
}

for (const specifier of modules) {
  const { sideEffects, exports } = packed.manifest;
  const target = exports[specifier.replace(packed.manifest.name, '.')] as { default: string };
  if (sideEffects.includes(target.default)) continue;
  test(`${specifier} leaves nothing in a bundle when none of it is used`, async () => {
    const { code, used } = await bundle(`import * as unused from '${specifier}';`, WORKER);
    assert.deepEqual({ code, used }, { code: '', used: [] });
  });
}

test('server.js fails the build of a page with an explanation', async () => {
  const code = `import { createTokenEndpoint } from 'plugin-editor/server.js'; console.log(createTokenEndpoint);`;
  await assert.rejects(bundle(code), /environment-token-must-never-reach-a-browser/);
  const { used } = await bundle(code, WORKER);
  assert.ok(used.includes('plugin-editor/dist/server/token-endpoint.js'));
});
