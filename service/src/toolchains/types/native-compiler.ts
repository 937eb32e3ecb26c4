import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Where TypeScript's native compiler is, and the declarations of the language's own library beside it. */
export function compilerDirectory(): string {
  const platform = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  // It is a dependency of TypeScript's, and need not be where the service finds its own.
  const { resolve } = createRequire(import.meta.resolve('typescript/package.json'));
  return join(dirname(resolve(platform)), 'lib');
}

export const compilerCommand = (): string => join(compilerDirectory(), 'tsc');
