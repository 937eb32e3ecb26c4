const replacements = new Map<string, URL>();

/**
 * The replacements of Node's modules that an isolated process may not import, by name. `lockdown.ts` reads them. They are in a file
 * of their own, because importing `lockdown.ts` locks down the importing process.
 */
export const replacedModules: ReadonlyMap<string, URL> = replacements;

/** Makes every later import of a module of Node load a module of the service instead. */
export function replaceModule(name: string, replacement: URL): void {
  replacements.set(name, replacement);
}
