import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { dependencyFolders, serviceCode } from '../../../service/src/processes/package-folders.ts';
import { temporaryDirectory } from '../harness.ts';

/** Makes packages, by their folders, with what their manifests say. */
function packages(t: TestContext, manifests: Record<string, object>) {
  const root = realpathSync(temporaryDirectory(t));
  for (const [path, manifest] of Object.entries(manifests)) {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, 'package.json'), JSON.stringify(manifest));
  }
  const foldersOf = (path: string) =>
    dependencyFolders(join(root, path)).map((folder) => folder.slice(root.length + 1).replaceAll('\\', '/'));
  return { root, foldersOf };
}

test('a package can read its direct and indirect dependencies, beside or within it, and nothing else', (t) => {
  const { foldersOf } = packages(t, {
    'node_modules/service': {
      dependencies: { beside: '1', '@scope/within': '1' },
      optionalDependencies: { 'for-another-system': '1' },
      peerDependencies: { peer: '1' },
      devDependencies: { neighbour: '1' },
    },
    'node_modules/beside': { dependencies: { deep: '1' } },
    // Two that depend on each other.
    'node_modules/deep': { dependencies: { beside: '1' } },
    'node_modules/service/node_modules/@scope/within': { dependencies: { deep: '2' } },
    'node_modules/service/node_modules/@scope/within/node_modules/deep': {},
    'node_modules/peer': {},
    'node_modules/neighbour': {},
    // Node never looks here.
    'node_modules/node_modules/for-another-system': {},
  });
  assert.deepEqual(foldersOf('node_modules/service').toSorted(), [
    'node_modules/beside',
    'node_modules/deep',
    'node_modules/peer',
    'node_modules/service/node_modules/@scope/within',
    'node_modules/service/node_modules/@scope/within/node_modules/deep',
  ]);
});

test('a package that is installed by links can read the links and their targets', (t) => {
  const { root, foldersOf } = packages(t, {
    'store/service/node_modules/service': { dependencies: { direct: '1' } },
    'store/direct/node_modules/direct': { dependencies: { indirect: '1' } },
    'store/indirect/node_modules/indirect': {},
    app: {},
  });
  const link = (from: string, to: string) => {
    mkdirSync(join(root, from, '..'), { recursive: true });
    symlinkSync(join(root, to), join(root, from), 'junction');
  };
  link('app/node_modules/service', 'store/service/node_modules/service');
  link('store/service/node_modules/direct', 'store/direct/node_modules/direct');
  link('store/direct/node_modules/indirect', 'store/indirect/node_modules/indirect');
  assert.deepEqual(foldersOf('app/node_modules/service').toSorted(), [
    'store/direct/node_modules/direct',
    'store/direct/node_modules/indirect',
    'store/indirect/node_modules/indirect',
    'store/service/node_modules/direct',
  ]);
});

test('the service can read no folder that holds packages of others', () => {
  const code = serviceCode();
  assert.ok(code.some((folder) => folder.endsWith('quickjs-wasi')));
  for (const folder of code) assert.doesNotMatch(folder, /[\\/]node_modules[\\/]?$|^[\\/]$/);
});
