import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const sources = fileURLToPath(new URL('../../editor/src', import.meta.url));

/** The folders of the editor. Each may import from itself and from those before it; `.` has the scripts of the page. */
const LAYERS = [
  'locales',
  'ui',
  'plugin',
  'service',
  'code',
  'language-help',
  'draft',
  'pipeline',
  'types',
  'tests',
  'versions',
  'runs',
  'assist',
  'workspace',
  'shell',
  '.',
];

/** What a module imports, type imports and dynamic imports included. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(sources, file), 'utf8');
  const { module } = parseSync(file, text);
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    // The parser gives the place of the specifier, quotes included.
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
}

const imports = globSync('**/*.ts', { cwd: sources }).flatMap((from) =>
  importsOf(from).map((specifier) => ({ from, specifier })),
);

test('the editor imports the launcher only by its published names, and no other file outside its sources', () => {
  const packages = new Set<string>();
  for (const { from, specifier } of imports) {
    if (!specifier.startsWith('.')) packages.add(specifier);
    else assert.ok(!join(dirname(from), specifier).startsWith('..'), `${from} imports ${specifier}`);
  }
  const published = [...packages].filter((name) => name.startsWith('plugin-editor')).toSorted();
  assert.deepEqual(published, ['plugin-editor/client.js', 'plugin-editor/editor.js']);
});

test('the imports between the folders of the editor go one way', () => {
  const layer = (file: string) => {
    const index = LAYERS.indexOf(dirname(file));
    assert.notEqual(index, -1, `${file} is in no folder that is named here`);
    return index;
  };
  const wrong = imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ from, specifier }) => ({ from, to: join(dirname(from), specifier) }))
    .filter(({ from, to }) => layer(to) > layer(from))
    .map(({ from, to }) => `${from} imports ${to}`);
  assert.deepEqual(wrong, []);
});

test('package.json of the editor lists exactly the imported packages', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(sources, '../package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const names = imports
    .map(({ specifier }) => specifier)
    .filter((specifier) => !specifier.startsWith('.'))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
  assert.deepEqual([...new Set(names)].toSorted(), Object.keys(devDependencies).toSorted());
});
