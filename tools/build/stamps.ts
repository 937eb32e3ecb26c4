import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-node.js';
import { lock } from '../setup/lock.ts';

// Remembers which sources a package was built of: a file for each package holds their fingerprint.

/** What is built, each with a file that exists once it is. */
const packages = {
  launcher: 'dist/client.js',
  service: 'service/dist/editor/index.html',
  /** The demo's page. */
  demo: 'demo/dist/index.html',
} as const;

export type Package = keyof typeof packages;

/** The files that the packages are built of, as globs. */
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

/** What is built of more than those. */
const furtherSources: Partial<Record<Package, readonly string[]>> = {
  demo: ['index.html', 'demo/*.ts', 'demo/{page,vendor}/**/*.*'],
};

const cache = join(root, 'node_modules/.cache/plugin-editor');
const stampOf = (name: Package) => join(cache, `${name}-built`);

/** Waits until no other process builds, and keeps others from it until the returned function is called. */
export function lockBuilds(): Promise<() => void> {
  mkdirSync(cache, { recursive: true });
  return lock(join(cache, 'build-lock'));
}

/** Whether a package was built of the present sources. */
export function isBuilt(name: Package): boolean {
  const stamp = stampOf(name);
  return (
    existsSync(join(root, packages[name])) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === fingerprint(name)
  );
}

/**
 * Builds a package, and remembers of which sources. The former fingerprint is removed first: a build that fails leaves an
 * incomplete package behind, which must not count as built once the former sources are back.
 */
export async function whileBuilding(name: Package, build: () => Promise<void>): Promise<void> {
  const stamp = stampOf(name);
  rmSync(stamp, { force: true });
  // Computed before the build, so that a source that changes meanwhile causes another build.
  const built = fingerprint(name);
  await build();
  writeFileSync(stamp, built);
}

/** A hash of the paths and contents of all sources. */
function fingerprint(name: Package): string {
  const hash = createHash('sha256');
  for (const path of globSync([...sources, ...(furtherSources[name] ?? [])], { cwd: root }).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}
