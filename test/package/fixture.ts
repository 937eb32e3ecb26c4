import { after } from 'node:test';
import { pack } from './pack.ts';

/** Packed once for all tests of one process. */
export const packed = await pack();
after(packed.remove);

const { exports } = packed.manifest;

/** The specifier for a key in an import. */
const specifierOf = (key: string) => packed.manifest.name + key.slice(1);

const isCode = (target: unknown) => typeof target === 'object' && target !== null && 'default' in target;

/** The keys of the export map that programs import, and those of data for tools, as they are written in an import. */
export const modules = Object.keys(exports)
  .filter((key) => isCode(exports[key]))
  .map(specifierOf);
export const data = Object.keys(exports)
  .filter((key) => key.endsWith('.json'))
  .map(specifierOf);
/** The files of keys that hold only types. */
export const declarations = Object.values(exports).flatMap((target) => {
  const { types } = Object(target) as { types?: string };
  return types && !isCode(target) ? [types.replace('./', '')] : [];
});
/** The files that keys with an asterisk let through. */
export const scripts = packed.files
  .filter((file) => file.startsWith('dist/cdn/'))
  .map((file) => specifierOf(`./${file}`));
