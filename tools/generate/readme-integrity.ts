/**
 * Part of `npm run check`: makes the scripts of dist/cdn in a folder of its own, and fails when a script tag in the README
 * carries another hash or version. With `--write` it puts the right ones there.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { type Release, withHashes } from './script-snippets.ts';

const outDir = mkdtempSync(join(tmpdir(), 'plugin-editor-integrity-'));
try {
  for (const mode of ['cdn', 'iife']) await build({ mode, logLevel: 'error', build: { outDir } });
  const release = JSON.parse(readFileSync(join(outDir, 'integrity.json'), 'utf8')) as Release;
  const given = readFileSync('README.md', 'utf8');
  const right = withHashes(given, release);
  if (process.argv.includes('--write')) {
    writeFileSync('README.md', right);
  } else if (right !== given) {
    console.error(
      'README.md: a script tag has the hash or version of another build; node tools/run.js tools/generate/readme-integrity.ts --write mends it',
    );
    process.exitCode = 1;
  }
} finally {
  rmSync(outDir, { recursive: true });
}
