import { extname } from 'node:path';

/**
 * The URL of a module of the service, for a process or an option that names it by its file. Its name ends as that of
 * the module that asks: `.ts` where the sources run as they are, `.js` once they are built.
 * @param path relative to `from`, without its ending, such as `./runner-main`
 * @param from the asking module's `import.meta.url`
 */
export const moduleUrl = (path: string, from: string): URL => new URL(path + extname(from), from);
