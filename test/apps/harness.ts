import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { packOnce } from '../support/packing.ts';
import type { Rule } from '../support/script-rules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A folder outside of this project with all apps, installed: none of them can reach the source tree. */
export interface Workshop {
  at: (...path: string[]) => string;
  /** Runs a script of an app's package.json and resolves with all that it printed. */
  runScript: (app: string, script: string) => Promise<string>;
  [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Packs this project, puts the apps beside the tarball and installs all of them from it. One installation for all: a
 * package that several apps need in the same version is there once.
 */
export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-apps-'));
  const at = (...path: string[]) => join(folder, ...path);
  const close = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const isSource = (path: string) =>
      !/(?:^|[\\/])(?:node_modules|dist)(?:[\\/]|$)/.test(relative(root, path));
    await cp(join(root, 'test/apps'), folder, { recursive: true, filter: isSource });
    await cp((await packOnce('plugin-editor')).file, at('plugin-editor.tgz'));
    // React 18 by itself, or the package would find one of the two Reacts for both.
    for (const place of [folder, at('react-18')]) {
      await npm(place, 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    at,
    runScript: (app, script) => npm(at(app), 'run', '--silent', script),
    [Symbol.asyncDispose]: close,
  };
}

function npm(cwd: string, ...args: string[]): Promise<string> {
  // What the npm around this process says about itself is not meant for this one; its settings are.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^NODE_(?!EXTRA_)/.test(name)),
  );
  // With a development build of a framework its own checks run: double mounts, hydration mismatches.
  return run('npm', args, cwd, { ...env, NODE_ENV: 'development' });
}

/** Runs a program; fails with everything that it printed. */
export function run(
  command: string,
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // On Windows npm is a batch file.
    const shell = process.platform === 'win32' && command === 'npm';
    const child = spawn(command, args, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} in ${cwd} ended with ${code}:\n${output}`));
    });
  });
}

const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.map': 'application/json',
};

/** Rules by which the scripted server serves a folder. */
export async function serveFolder(folder: string): Promise<Rule[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => {
        const path = join(file.parentPath, file.name);
        return {
          path: `/${relative(folder, path).replaceAll('\\', '/')}`,
          headers: { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' },
          body: await readFile(path, 'utf8'),
        };
      }),
  );
}
