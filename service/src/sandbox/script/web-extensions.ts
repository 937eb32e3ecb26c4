import { readFileSync } from 'node:fs';
import type { ExtensionDescriptor } from 'quickjs-wasi';

// In this order they are in every engine, because a snapshot holds where in the engine's table each one has its functions.
const names = ['url', 'encoding', 'headers', 'crypto'] as const;

/**
 * The extensions of the engine, in C: `URL`, `TextEncoder`, `TextDecoder`, `Headers` and `crypto`. Their state
 * is in the engine's memory, so that it is restored with it.
 */
export const webExtensions: ExtensionDescriptor[] = names.map((name) => ({
  name,
  wasm: new WebAssembly.Module(readFileSync(new URL(import.meta.resolve(`quickjs-wasi/${name}.so`)))),
}));
