import { fileURLToPath } from 'node:url';

import type { TestRunnerPlugin } from '@web/test-runner';
import { type InlineConfig, build } from 'vite';

import { bundle } from '../bench/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the files for script tags as they are published, and returns one of them. */
async function scriptTag(file: string): Promise<string> {
  const config: InlineConfig = { root, mode: 'cdn', logLevel: 'error', build: { write: false } };
  const made = (await build(config)) as unknown as { output: { fileName: string; code: string }[] }[];
  const chunk = made.flatMap(({ output }) => output).find(({ fileName }) => fileName === file);
  if (!chunk) throw new Error(`The build makes no ${file}`);
  return chunk.code;
}

const files: Record<string, () => Promise<string>> = {
  'plugin-editor.js': () => scriptTag('plugin-editor.js'),
  'plugin-editor.iife.js': () => scriptTag('plugin-editor.iife.js'),
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
