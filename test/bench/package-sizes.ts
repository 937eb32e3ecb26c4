import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../package/pack.ts';
import { npm } from '../support/programs.ts';
import type { Figure } from './figures.ts';

const KB = 1000;

/** What may come with it: its dependencies, and what those bring. */
const EXPECTED = [
  '@lit-labs/ssr-dom-shim',
  '@lit/reactive-element',
  '@types/trusted-types',
  'lit',
  'lit-element',
  'lit-html',
  'plugin-editor',
  'zod',
];

/** Packs the package and installs it into an empty folder: how large it is, and what comes with it. */
export async function measurePackage(): Promise<Figure[]> {
  const packed = await pack();
  const empty = await mkdtemp(join(tmpdir(), 'plugin-editor-install-'));
  try {
    await writeFile(join(empty, 'package.json'), '{ "private": true }');
    await npm(empty, ['install', '--no-audit', '--no-fund', '--ignore-scripts', packed.file]);
    const brought = await installedIn(empty);
    console.log('\nWhat `npm install plugin-editor` brings');
    let total = 0;
    for (const { name, version, size } of brought) {
      total += size;
      console.log(`  ${`${name} ${version}`.padEnd(32)} ${(size / KB).toFixed(0).padStart(6)} KB`);
    }
    console.log(`  ${'in all'.padEnd(32)} ${(total / KB).toFixed(0).padStart(6)} KB`);
    const others = brought.map(({ name }) => name).filter((name) => !EXPECTED.includes(name));
    return [
      { name: 'packed tarball', value: packed.size / KB, limit: 160, unit: 'KB' },
      { name: 'unpacked', value: packed.unpackedSize / KB, limit: 570, unit: 'KB' },
      {
        name: 'packages besides lit, zod and what those bring',
        value: others.length,
        limit: 0,
        unit: '',
        note: others.join(', '),
      },
    ];
  } finally {
    await rm(empty, { recursive: true, force: true });
    await packed.remove();
  }
}

/** All packages in a folder, with the bytes of their files. */
async function installedIn(folder: string) {
  const lock = JSON.parse(await readFile(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  return Promise.all(
    Object.entries(lock.packages).map(async ([path, { version }]) => {
      const files = await readdir(join(folder, path), { recursive: true, withFileTypes: true });
      const sizes = files
        .filter((file) => file.isFile())
        .map(async (file) => (await stat(join(file.parentPath, file.name))).size);
      const size = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0);
      return { name: path.replace(/^.*node_modules\//, ''), version, size };
    }),
  );
}
