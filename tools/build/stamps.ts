import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../run-node.js';

// What was built of which sources: a file for each package holds the fingerprint of the sources of its last build.

/** The packages, and a file of each that is there once it is built. */
const packages = {
  launcher: 'dist/client.js',
  service: 'service/dist/editor/index.html',
} as const;

export type Package = keyof typeof packages;

/** Everything that the packages are made of. */
const sources = [
  'src/**/*.*',
  'service/src/**/*.*',
  'editor/src/**/*.*',
  '{service,editor}/*.*',
  'tools/build/*.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vite.config.ts',
];

const stampOf = (name: Package) => join(root, 'node_modules/.cache/plugin-editor', `${name}-built`);

/** Whether a package was built of the sources as they are. */
export function isBuilt(name: Package): boolean {
  const stamp = stampOf(name);
  return (
    existsSync(join(root, packages[name])) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === fingerprint()
  );
}

/**
 * Builds a package, and remembers of which sources. While it is built, and when that fails, nothing is remembered: what is
 * half there is of no sources, and those of before may come back.
 */
export async function whileBuilding(name: Package, build: () => Promise<void>): Promise<void> {
  const stamp = stampOf(name);
  rmSync(stamp, { force: true });
  // As they are before, so that a change in the meantime is seen the next time.
  const built = fingerprint();
  await build();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, built);
}

/** A hash of the paths and contents of all sources. */
function fingerprint(): string {
  const hash = createHash('sha256');
  for (const path of globSync(sources, { cwd: root }).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}
