import { cp, mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { packOnce } from '../support/packing.ts';
import { npm, runScript } from '../support/programs.ts';
import type { Rule } from '../support/scripted-server-rules.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** With a development build of a framework its own checks run: double mounts, hydration mismatches. */
const development = { NODE_ENV: 'development' };

/** A folder outside of this project with all apps, installed: none of them can reach the source tree. */
export interface InstalledApps {
  at: (...path: string[]) => string;
  /** Runs a script of an app's package.json. */
  runScript: (app: string, script: string) => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Packs this project, puts the apps beside the tarball and installs all of them from it. One installation for all: a
 * package that several apps need in the same version is there once.
 */
export async function installApps(): Promise<InstalledApps> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-editor-apps-'));
  const at = (...path: string[]) => join(folder, ...path);
  const close = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const isSource = (path: string) =>
      !/(?:^|[\\/])(?:node_modules|dist)(?:[\\/]|$)/.test(relative(root, path));
    await cp(join(root, 'test/apps'), folder, { recursive: true, filter: isSource });
    // The app for React 18 is that for React 19, without the tags, whose types React 18 does not know.
    await cp(at('react-19'), at('react-18'), {
      recursive: true,
      filter: (path) => !/(?:package\.json|tags\.tsx)$/.test(path),
    });
    // The copy for React 18 has another name, so that npm puts it beside React 18: one package would find the same React for all.
    const { file } = await packOnce('plugin-editor');
    for (const name of ['plugin-editor', 'plugin-editor-for-react-18']) await cp(file, at(`${name}.tgz`));
    await npm(folder, ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], development);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    at,
    runScript: async (app, script) => {
      await runScript(at(app), script, development);
    },
    [Symbol.asyncDispose]: close,
  };
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
