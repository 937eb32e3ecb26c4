import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compressFiles } from './compress.ts';

/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a file of an installed package, or of this repository, in the root. Throws when it fails; what it said is above. */
function run(file: string, ...args: string[]): void {
  const { status, error } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(root, file), ...args],
    { cwd: root, stdio: 'inherit' },
  );
  if (error) throw error;
  if (status !== 0) throw new Error(`${[file, ...args].join(' ')} ended with exit code ${status}.`);
}

const vite = (...args: string[]) =>
  run('node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn', ...args);
const compile = (project: string) => run('node_modules/typescript/bin/tsc', '-p', project);

/** The launcher's modules: all that the other packages need of it. */
export const buildLauncherModules = (): void => vite();

/** The launcher as it is published: modules, files for script tags, types, and data for editors. */
export function buildLauncher(): void {
  buildLauncherModules();
  vite('--mode', 'cdn');
  vite('--mode', 'iife');
  compile('src');
  run('tools/generate/build.ts');
  run('tools/generate/declarations.ts');
}

/** The service as it is published, with the editor in it, plain and compressed. The launcher's modules must be built. */
export async function buildService(): Promise<void> {
  rmSync(join(root, 'service/dist'), { recursive: true, force: true });
  compile('service');
  vite('--config', 'editor/vite.config.ts');
  const editor = join(root, 'service/dist/editor');
  cpSync(join(root, 'editor/dist'), editor, { recursive: true });
  await compressFiles(join(editor, 'assets'), join(root, 'node_modules/.cache/plugin-editor/compressed'));
}
