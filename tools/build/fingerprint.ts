import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './steps.ts';

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

const stampFile = join(root, 'node_modules/.cache/plugin-editor/packages');

/** A hash of all sources of the packages, which changes when one of them does. */
export function fingerprint(): string {
  const hash = createHash('sha256');
  for (const path of globSync(sources, { cwd: root }).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The fingerprint of what was built last; `undefined` where nothing was. */
export function builtFingerprint(): string | undefined {
  try {
    return readFileSync(stampFile, 'utf8');
  } catch {
    return undefined;
  }
}

/** Remembers what was built. */
export function rememberBuilt(value: string): void {
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, value);
}
