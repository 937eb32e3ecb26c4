import type { LibraryInterface } from '../../plugins/libraries.ts';

/**
 * Libraries as modules that TypeScript knows without looking for files. One without declarations is of any type. The declarations
 * parsed alone when the library was published, so that they cannot reach beyond their braces.
 */
export const libraryDeclarations = (libraries: readonly LibraryInterface[]): string =>
  libraries
    .map(({ name, declarations }) =>
      declarations === undefined
        ? `declare module ${JSON.stringify(name)};\n`
        : `declare module ${JSON.stringify(name)} {\n${declarations}\n}\n`,
    )
    .join('');
