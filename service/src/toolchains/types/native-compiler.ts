import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of TypeScript's native compiler, with the declarations of the language's own library. */
export function compilerDirectory(): string {
  const platform = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  // Resolved from TypeScript, because the service itself need not be able to find a dependency of TypeScript.
  const { resolve } = createRequire(import.meta.resolve('typescript/package.json'));
  return join(dirname(resolve(platform)), 'lib');
}

export const compilerCommand = (): string => join(compilerDirectory(), 'tsc');
