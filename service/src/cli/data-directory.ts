import { resolve } from 'node:path';

/** Where state is kept: `DATA_DIR`, by default `.data`, both relative to the working directory. */
export const dataDirectory = (env: Record<string, string | undefined> = process.env): string =>
  resolve(env['DATA_DIR'] || '.data');
