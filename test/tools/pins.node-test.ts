import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

const manifestOf = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;

const products = ['package.json', 'service/package.json', 'editor/package.json'].map(manifestOf);
const manifests = [...products, ...['tools/site/package.json', 'test/packages/package.json'].map(manifestOf)];

const page = readFileSync(join(root, 'docs/contribute/dependencies.md'), 'utf8');

/** The rows of the page's section, without padding: the cells by package. */
function rowsOf(section: string): ReadonlyMap<string, readonly string[]> {
  const [, text = ''] = new RegExp(`## ${section}\\n([^]*?)(?=\\n## |$)`).exec(page) ?? [];
  const rows = [...text.matchAll(/^\| `([^`]+)` *\|(.*)\|$/gm)];
  return new Map(rows.map(([, name = '', rest = '']) => [name, rest.split('|').map((cell) => cell.trim())]));
}

test('packages whose unstable or inner parts are used have exact versions', () => {
  for (const name of rowsOf('Exact versions').keys()) {
    const versions = products.flatMap(({ dependencies, devDependencies }) =>
      [dependencies?.[name], devDependencies?.[name]].filter((version) => version !== undefined),
    );
    assert.ok(versions.length, name);
    for (const version of versions) assert.match(version, /^\d+\.\d+\.\d+$/, `${name} ${version}`);
    assert.equal(new Set(versions).size, 1, `${name} has several versions: ${versions.join(', ')}`);
  }
});

test('each override and each decision on an install script has its reason and its end on the page, and no other', () => {
  const overrides = manifests.flatMap((manifest) => Object.entries(manifest.overrides ?? {}));
  const scripts = manifests.flatMap((manifest) => Object.entries(manifest.allowScripts ?? {}));
  const sections = [
    ['Overrides', overrides.map(([name, version]) => [name, `\`${version}\``] as const)],
    ['Install scripts', scripts.map(([name, allowed]) => [name, allowed ? 'yes' : 'no'] as const)],
  ] as const;
  for (const [section, entries] of sections) {
    const rows = rowsOf(section);
    assert.deepEqual(new Set(rows.keys()), new Set(entries.map(([name]) => name)), section);
    for (const [name, value] of entries) {
      const [stated, reason, end] = rows.get(name) ?? [];
      assert.equal(stated, value, name);
      assert.ok(reason && end, name);
    }
  }
});
