import { fileURLToPath } from 'node:url';
import { installPackages } from '../../tools/setup/install-packages.ts';

/** The folder of frameworks that only the documented token endpoints need. It is separate so that `npm start` need not install them. */
export const serversDirectory = fileURLToPath(new URL('servers/', import.meta.url));

/** Installs what is in {@link serversDirectory}. */
export const installServers = (): Promise<void> => installPackages(serversDirectory);
