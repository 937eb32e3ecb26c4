import { extname } from 'node:path';

/**
 * The URL of a module of the service, for a process that loads it by its file. It has the extension of the calling module: `.ts` in
 * the sources, `.js` in the built package.
 * @param path relative to `from`, without extension, such as `./runner-main`
 * @param from the calling module's `import.meta.url`
 */
export const moduleUrl = (path: string, from: string): URL => new URL(path + extname(from), from);
