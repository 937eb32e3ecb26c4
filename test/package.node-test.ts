import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** A value in an export map: a file, or conditions in the order in which they are tried. */
type Target = string | { [condition: string]: Target };

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8')) as {
  exports?: Record<string, Target>;
  sideEffects: string[];
  files: string[];
  dependencies: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  scripts: Record<string, string>;
};
const map = manifest.exports ?? {};

/** What a tool with these conditions is given. */
function resolve(target: Target | undefined, conditions: string[]): string | undefined {
  if (typeof target === 'string' || target === undefined) return target;
  for (const [condition, inner] of Object.entries(target)) {
    const found =
      condition === 'default' || conditions.includes(condition) ? resolve(inner, conditions) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** Every file that a key can lead to, with the conditions on the way. */
function leaves(target: Target, way: string[] = []): { file: string; way: string[] }[] {
  if (typeof target === 'string') return [{ file: target, way }];
  return Object.entries(target).flatMap(([condition, inner]) => leaves(inner, [...way, condition]));
}

/** The source files that a built file can come from: the build writes one file for each. */
function sourcesOf(file: string): string[] {
  const [, name] = /^\.\/dist\/([\w./-]+?)(?:\.d)?\.[jt]s$/.exec(file) ?? [];
  return name ? ['ts', 'tsx'].map((end) => `src/${name}.${end}`).filter((path) => existsSync(at(path))) : [];
}

/** Keys of data for tools, and of types only; nothing imports them at run time. */
const isData = (key: string) => /\.(?:json|d\.ts)$/.test(key);
const modules = Object.entries(map).filter(([key]) => !isData(key) && !key.startsWith('./dist/cdn/'));

test('the export map has the documented keys', () => {
  const expected = [
    '.',
    './client.js',
    './editor.js',
    './elements.js',
    './plugin-editor.js',
    './plugin-features.js',
    './react.js',
    './server.js',
    './testing.js',
  ];
  const lacking = expected.filter((key) => !(key in map));
  assert.deepEqual(lacking, []);
});

for (const [key, target] of modules) {
  test(`${key} leads to a file with one source in src/ under every condition`, () => {
    for (const { file, way } of leaves(target)) {
      assert.equal(sourcesOf(file).length, 1, `${way.join(' > ') || 'the target'} is ${file}`);
    }
  });

  test(`${key} has the types of the file that it leads to`, () => {
    // Where no condition names the types, TypeScript takes the .d.ts beside the file.
    for (const { file, way } of leaves(target).filter((leaf) => leaf.way.includes('types'))) {
      assert.equal(way.at(-1), 'types', 'nothing comes below the condition types');
      const code = resolve(target, [...way.slice(0, -1), 'import']);
      assert.equal(file, code?.replace(/\.js$/, '.d.ts'));
    }
    const types = resolve(target, ['types', 'import']);
    assert.match(types ?? '', /^\.\/dist\/.+\.(?:d\.ts|js)$/);
    if (typeof target === 'object' && 'types' in target) assert.equal(Object.keys(target)[0], 'types');
  });

  test(`${key} leads to a module for every kind of tool`, () => {
    for (const conditions of [['import'], ['node', 'import'], ['browser', 'import'], []]) {
      assert.match(resolve(target, conditions) ?? '', /\.js$/, conditions.join());
    }
  });

  // The build puts a page into this one, which its sources lack; `test/testing` imports what was built.
  if (key === './testing.js') continue;

  test(`${key} can be imported in Node`, async () => {
    const [source] = sourcesOf(resolve(target, ['node', 'import']) ?? '');
    assert.ok(source);
    const exported = Object.keys((await import(at(source))) as object);
    assert.ok(exported.length > 0 || manifest.sideEffects.some((file) => sourcesOf(file)[0] === source));
  });
}

test('every entry file in src/ has a key in the export map', () => {
  const reached = new Set(
    modules.flatMap(([, target]) => leaves(target).flatMap(({ file }) => sourcesOf(file))),
  );
  const entries = readdirSync(at('src'), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => `src/${entry.name}`);
  assert.deepEqual(
    entries.filter((entry) => !reached.has(entry)),
    [],
  );
});

test('every file that a key leads to is published', () => {
  for (const { file } of Object.values(map).flatMap((target) => leaves(target))) {
    const inside = manifest.files.some((path) => file === `./${path}` || file.startsWith(`./${path}/`));
    assert.ok(inside || file === './package.json', file);
  }
});

test('every file with side effects has a source, including those that define elements', () => {
  const named = manifest.sideEffects.filter((path) => !path.startsWith('./dist/cdn/'));
  for (const file of named) {
    const sources = file.startsWith('./src/')
      ? [file].filter((path) => existsSync(at(path)))
      : sourcesOf(file);
    assert.equal(sources.length, 1, file);
  }
  for (const name of ['index', 'plugin-editor', 'plugin-features']) {
    assert.ok(named.includes(`./dist/${name}.js`), name);
  }
});

test('server.js is for servers only: a browser gets a module that throws and exports nothing', async () => {
  const target = map['./server.js'];
  const server = './dist/server.js';
  for (const runtime of ['workerd', 'worker', 'edge-light', 'deno', 'bun', 'node']) {
    assert.equal(resolve(target, [runtime, 'import']), server, runtime);
    // Tools for these runtimes often add `browser`.
    assert.equal(resolve(target, ['browser', runtime, 'import']), server, `${runtime} and browser`);
  }
  const forBrowsers = resolve(target, ['browser', 'import']);
  assert.match(forBrowsers ?? '', /environment-token.*(?:never|not).*browser/);
  const [source] = sourcesOf(forBrowsers ?? '');
  assert.ok(source);
  assert.deepEqual(Object.keys((await import(at(source))) as object), []);
});

test('lit and zod are the only dependencies, and peers are optional', () => {
  assert.deepEqual(Object.keys(manifest.dependencies).toSorted(), ['lit', 'zod']);
  for (const peer of Object.keys(manifest.peerDependencies ?? {})) {
    assert.equal(manifest.peerDependenciesMeta?.[peer]?.optional, true, peer);
  }
  // What npm installs besides.
  for (const field of ['optionalDependencies', 'bundleDependencies', 'bundledDependencies']) {
    assert.ok(!(field in manifest), field);
  }
});

// The packed package has a like test; this one is part of `npm run check`, and of what an installation from git runs.
test('no script of the package runs when it is installed', () => {
  const lifecycle = ['install', 'prepare'].flatMap((name) => [`pre${name}`, name, `post${name}`]);
  assert.deepEqual(
    lifecycle.filter((name) => name in manifest.scripts),
    [],
  );
});
