/**
 * Modules of Node that an isolated process is not given, and what its own code put in their place, by name. Read by
 * `lockdown.ts`. Apart from it, because importing that one locks the process down that imports it.
 */
export const replacedModules: ReadonlyMap<string, URL> = new Map<string, URL>();

/** Has every later import of a module of Node load a module of the service in its place. */
export function replaceModule(name: string, replacement: URL): void {
  (replacedModules as Map<string, URL>).set(name, replacement);
}
