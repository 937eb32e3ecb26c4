import { fileURLToPath } from 'node:url';
import { installPackages } from '../support/install.ts';

/** Where the frameworks are that only the documentation's token endpoints need: apart, so that `npm start` need not fetch them. */
export const serversDirectory = fileURLToPath(new URL('servers/', import.meta.url));

/** Installs what is in {@link serversDirectory}. */
export const installServers = (): Promise<void> => installPackages(serversDirectory);
