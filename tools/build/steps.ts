import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, runNode } from '../run-node.js';
import { compressFiles } from './compress.ts';
import { prepareDeclarations } from './declarations.ts';
import { isBuilt, whileBuilding } from './stamps.ts';

// The steps of building the packages. Each function rejects when one of its programs fails, after that has printed why.

/** Runs a file of an installed package, or of this repository. */
async function run(...args: string[]): Promise<void> {
  const code = await runNode(args);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with exit code ${code}.`);
}

const vite = (...args: string[]) =>
  run('node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn', ...args);
const compile = (project: string) => run('node_modules/typescript/bin/tsc', '-p', project);

/** Builds the launcher as it is published: modules, files for script tags, types, and data for editors. */
export const buildLauncher = (): Promise<void> =>
  whileBuilding('launcher', async () => {
    await vite();
    await vite('--mode', 'cdn');
    await compile('src');
    await run('tools/generate/build.ts');
    prepareDeclarations(join(root, 'dist'), '{*,types/*}.d.ts');
  });

/** Builds the launcher's modules, which are all that the other packages need of it, unless they were built already. */
export async function provideLauncherModules(): Promise<void> {
  if (!isBuilt('launcher')) await whileBuilding('launcher', () => vite());
}

/** Builds the service as it is published, with the editor in it, plain and compressed. Both contain the launcher's modules. */
export async function buildService(): Promise<void> {
  await provideLauncherModules();
  await whileBuilding('service', async () => {
    rmSync(join(root, 'service/dist'), { recursive: true, force: true });
    await compile('service');
    prepareDeclarations(join(root, 'service/dist'), 'index.d.ts');
    // npm also does this, but only when it installs the package.
    chmodSync(join(root, 'service/dist/cli/main.js'), 0o755);
    await vite('--config', 'editor/vite.config.ts');
    const editor = join(root, 'service/dist/editor');
    cpSync(join(root, 'editor/dist'), editor, { recursive: true });
    await compressFiles(join(editor, 'assets'), join(root, 'node_modules/.cache/plugin-editor/compressed'));
  });
}

/** Builds the demo's page, with the launcher's modules in it. */
export const buildDemo = (): Promise<void> =>
  whileBuilding('demo', () => vite('--config', 'demo/vite.config.ts'));
