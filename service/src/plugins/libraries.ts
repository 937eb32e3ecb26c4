/** An ES module that a vendor publishes for the plugins of its namespaces. A version never changes. */
export interface Library {
  /** The source, which imports nothing. */
  readonly contents: string;
  /** Its types, in TypeScript, as in the `.d.ts` file of a module. */
  readonly declarations?: string | undefined;
  readonly description?: string | undefined;
}

/** Which versions of which libraries a namespace has: versions by names. */
export type LibraryVersions = Readonly<Record<string, string>>;

/** What a build, and whoever writes a plugin, has to know of a library. */
export interface LibraryInterface {
  readonly name: string;
  readonly version: string;
  readonly description?: string | undefined;
  /** The names that it exports; `default` for a default export. */
  readonly exports: readonly string[];
  readonly declarations?: string | undefined;
}

/** How many libraries an environment may have, each version being one. */
export const maxLibraries = 100;

/** The name of an npm package, without its scope. */
export const libraryName = /^[a-z0-9~-][a-z0-9._~-]*$/;

/** How long the name of a library may be, with its scope, and how long a version. */
export const [longestLibraryName, longestVersion] = [214, 100];

/** A semantic version. */
export const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][\da-z-]*))*)?(?:\+[\da-z-]+(?:\.[\da-z-]+)*)?$/i;
