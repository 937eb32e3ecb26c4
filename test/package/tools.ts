import { fileURLToPath } from 'node:url';
import { packagesOf } from '../../tools/setup/install-packages.ts';

/** Loads the linters of packages, which are apart from the project's own packages: nothing else needs them. */
export const tools = await packagesOf(fileURLToPath(new URL('tools/', import.meta.url)));
