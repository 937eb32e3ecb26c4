import { fileURLToPath } from 'node:url';

import type { TestRunnerPlugin } from '@web/test-runner';
import { type InlineConfig, build } from 'vite';

import { bundle } from '../bench/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds one of the files for script tags as it is published. */
async function scriptTag(mode: string): Promise<string> {
  const config: InlineConfig = { root, mode, logLevel: 'error', build: { write: false } };
  const [{ output }] = (await build(config)) as unknown as [{ output: [{ code: string }] }];
  return output[0].code;
}

const files: Record<string, () => Promise<string>> = {
  'plugin-editor.js': () => scriptTag('cdn'),
  'plugin-editor.iife.js': () => scriptTag('iife'),
  // The modules from npm, and the editor's half of the protocol, as an application bundles them.
  'modules.js': () => bundle(`${root}/src/index.ts`),
  'editor.js': () => bundle(`${root}/src/editor.ts`),
};

/** Serves built files to browser tests below `/built/`; each is built once, when it is first asked for. */
export function builtFiles(): TestRunnerPlugin {
  const built = new Map<string, Promise<string>>();
  return {
    name: 'built-files',
    async serve({ path }) {
      const name = path.startsWith('/built/') ? path.slice('/built/'.length) : '';
      const make = files[name];
      if (!make) return undefined;
      const code = built.get(name) ?? make();
      built.set(name, code);
      return { body: await code, type: 'js' };
    },
  };
}
