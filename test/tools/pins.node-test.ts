import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
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

test('a package has an exact version, the same in all manifests, if and only if the page has its reason', () => {
  const versions = new Map<string, Set<string>>();
  for (const { dependencies, devDependencies, peerDependencies } of products) {
    for (const [name, version] of [dependencies, devDependencies, peerDependencies].flatMap((list) =>
      Object.entries(list ?? {}),
    )) {
      versions.set(name, (versions.get(name) ?? new Set()).add(version));
    }
  }
  const rows = rowsOf('Exact versions');
  for (const name of rows.keys()) assert.equal(versions.get(name)?.size, 1, name);
  const exact = [...versions].filter(([, all]) => [...all].some((version) => /^\d/.test(version)));
  assert.deepEqual(new Set(exact.map(([name]) => name)), new Set(rows.keys()));
});

test('the lock file has the optional packages of all platforms', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const paths = Object.keys(packages);
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)));
  assert.deepEqual(missing, []);
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
