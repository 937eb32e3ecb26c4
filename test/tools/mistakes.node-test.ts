import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from './references.ts';

/*
 * Lint is only as good as its settings, which nothing else tests: each mistake that it must find is made here, in each
 * top-level folder.
 * That nobody has made one is for `npm run check -- lint` to say.
 */

/** A place for a file in each top-level folder, with the other top-level folders that it may import from by path. */
const topLevelFolders = [
  { name: 'src', folder: 'src/element', uses: [] },
  { name: 'service', folder: 'service/src/http', uses: [] },
  { name: 'editor', folder: 'editor/src/shell', uses: [] },
  { name: 'demo', folder: 'demo/page', uses: [] },
  { name: 'tools', folder: 'tools/build', uses: ['src'] },
  { name: 'test', folder: 'test/core', uses: ['src', 'service', 'editor', 'demo', 'tools'] },
] as const;

type FolderName = (typeof topLevelFolders)[number]['name'];

/** Whether a top-level folder may import from another one by a path. */
const mayUse = (uses: readonly FolderName[], other: FolderName) => uses.includes(other);

const pathUp = (folder: string) => '../'.repeat(folder.split('/').length);

/** Lints files, given by their paths, with this repository's settings; returns the rules that each one breaks. */
function lint(files: Readonly<Record<string, string>>): Map<string, string[]> {
  const copy = mkdtempSync(join(tmpdir(), 'plugin-editor-mistakes-'));
  try {
    // What needs the types of all files is not asked for here.
    const settings = readFileSync(join(root, '.oxlintrc.json'), 'utf8').replace(/"typeAware": true/, '');
    for (const [path, text] of Object.entries({ ...files, '.oxlintrc.json': settings })) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), text);
    }
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/oxlint/bin/oxlint'), '--format=json'],
      { cwd: copy, encoding: 'utf8' },
    );
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
    const found = new Map<string, string[]>(Object.keys(files).map((path) => [path, []]));
    for (const { filename, code } of diagnostics) found.get(filename.replaceAll('\\', '/'))?.push(code);
    return found;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

describe('lint', () => {
  test('finds a test that waits with the short limit of a library, and lets the own wait pass', () => {
    const found = lint({
      'test/element/short.test.ts':
        "import { waitUntil } from '@open-wc/testing';\nexport const a = waitUntil;\n",
      'test/element/long.test.ts': "import { until } from '../support/until.ts';\nexport const a = until;\n",
    });
    assert.deepEqual(found.get('test/element/short.test.ts'), ['eslint(no-restricted-imports)']);
    assert.deepEqual(found.get('test/element/long.test.ts'), []);
  });

  test('finds a test that resets a connection in a way that may keep the process from ending', () => {
    const found = lint({
      'test/element/reset.test.ts':
        "import type { Socket } from 'node:net';\nexport const a = (socket: Socket) => socket.resetAndDestroy();\n",
      'test/element/careful.test.ts':
        "import { resetConnection } from '../support/reset-connection.ts';\nexport const a = resetConnection;\n",
    });
    assert.deepEqual(found.get('test/element/reset.test.ts'), ['eslint(no-restricted-properties)']);
    assert.deepEqual(found.get('test/element/careful.test.ts'), []);
  });

  test('finds an import of another top-level folder by a path, and lets those pass that are allowed', () => {
    const files = Object.fromEntries(
      topLevelFolders.flatMap(({ name, folder }) =>
        topLevelFolders
          .filter((other) => other.name !== name)
          .map((other) => [
            `${folder}/uses-${other.name}.ts`,
            `import { a } from '${pathUp(folder)}${other.folder}/a.ts';\nexport const b = a;\n`,
          ]),
      ),
    );
    const found = lint(files);
    for (const { name, folder, uses } of topLevelFolders) {
      for (const other of topLevelFolders.filter((one) => one.name !== name)) {
        const expected = mayUse(uses, other.name) ? [] : ['eslint(no-restricted-imports)'];
        assert.deepEqual(
          found.get(`${folder}/uses-${other.name}.ts`),
          expected,
          `${name} uses ${other.name}`,
        );
      }
    }
  });

  test('finds files that import each other in a circle, in each top-level folder', () => {
    const module = (other: string, own: string) =>
      `import { ${other} } from './${other}.ts';\nexport const ${own} = () => ${other}();\n`;
    const files = Object.fromEntries(
      topLevelFolders.flatMap(({ folder }) => [
        [`${folder}/one.ts`, module('two', 'one')],
        [`${folder}/two.ts`, module('three', 'two')],
        [`${folder}/three.ts`, module('one', 'three')],
      ]),
    );
    for (const [file, rules] of lint(files)) assert.deepEqual(rules, ['import(no-cycle)'], file);
  });

  test('finds a file of more than 400 lines in each top-level folder, unless it holds the texts of a language', () => {
    const lines = (count: number) => 'export const a = 1;\n' + '// A line.\n'.repeat(count - 1);
    const files = Object.fromEntries(
      topLevelFolders.flatMap(({ folder }) => [
        [`${folder}/longest.ts`, lines(400)],
        [`${folder}/too-long.ts`, lines(401)],
        [`${folder}/too-long.node-test.ts`, lines(401)],
        [`${folder}/too-long.js`, lines(401)],
      ]),
    );
    const found = lint({ ...files, 'editor/src/locales/en.ts': lines(1000) });
    for (const [file, rules] of found) {
      assert.deepEqual(rules, /too-long/.test(file) ? ['eslint(max-lines)'] : [], file);
    }
  });

  test('finds `any`, a test that runs alone, and one that is left out', () => {
    const body = "() => expect('a').toBe('a')";
    const found = lint({
      'src/core/a.ts': 'export const a = (b: any): string => String(b);\n',
      'test/core/only.test.ts': `it.only('a', ${body});\n`,
      'test/core/skipped.test.ts': `it.skip('a', ${body});\n`,
    });
    assert.deepEqual(found.get('src/core/a.ts'), ['typescript(no-explicit-any)']);
    assert.deepEqual(found.get('test/core/only.test.ts'), ['jest(no-focused-tests)']);
    assert.deepEqual(found.get('test/core/skipped.test.ts'), ['jest(no-disabled-tests)']);
  });
});

test('no style sheet and no page has more than 400 lines', () => {
  const found = globSync('{index.html,{service,editor,demo,tools,test}/**/*.{css,html}}', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  assert.ok(found.length > 20);
  const tooLong = found
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 401);
  assert.deepEqual(tooLong, []);
});
