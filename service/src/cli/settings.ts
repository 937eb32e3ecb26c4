import { StartError } from '../start-error.ts';
import type { DatabaseAddress } from '../storage/database-url.ts';
import { databaseAddress, dataDirectory } from './data-directory.ts';

/** What the service is started with. */
export interface Settings {
  /** Where to listen; 0 for any port that is free. */
  servicePort: number;
  /** Where files are kept, such as an SQLite database, as an absolute path. */
  dataDirectory: string;
  /** Where the service's own records are kept. */
  database: DatabaseAddress;
  /** How long an editor token lives, in seconds. */
  editorTokenTtl: number;
  /**
   * The only origins whose pages may frame the editor; `undefined` for any port of this machine. Read at every request,
   * so that an origin can be added once its port is known.
   */
  editorAncestors: string[] | undefined;
  /** Whether the editor takes a token from its address. */
  editorAddressTokens: boolean;
}

type Environment = Record<string, string | undefined>;

/**
 * What the environment asks for, defaults filled in.
 * @throws StartError that names the variable and says what it must be.
 */
export function readSettings(env: Environment): Settings {
  return {
    servicePort: wholeNumber(env, 'SERVICE_PORT', 8082, 0, 65_535, 'a port'),
    dataDirectory: dataDirectory(env),
    database: databaseAddress(env),
    editorTokenTtl: wholeNumber(env, 'EDITOR_TOKEN_TTL', 900, 1, 10 ** 9, 'a time in seconds'),
    editorAncestors: list(env, 'EDITOR_ANCESTORS'),
    editorAddressTokens: onOrOff(env, 'EDITOR_ADDRESS_TOKENS', true),
  };
}

/** Values between spaces or commas; `undefined` when there is none. */
function list(env: Environment, name: string): string[] | undefined {
  const values = (env[name] ?? '').split(/[\s,]+/).filter(Boolean);
  return values.length > 0 ? values : undefined;
}

function onOrOff(env: Environment, name: string, byDefault: boolean): boolean {
  const text = env[name]?.trim();
  if (!text) return byDefault;
  if (text !== 'on' && text !== 'off') throw new StartError(`${name} is "${text}"; it must be on or off.`);
  return text === 'on';
}

function wholeNumber(
  env: Environment,
  name: string,
  byDefault: number,
  least: number,
  most: number,
  what: string,
): number {
  const text = env[name]?.trim();
  if (!text) return byDefault;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new StartError(
      `${name} is "${text}"; it must be ${what}: a whole number from ${least} to ${most}.`,
    );
  }
  return value;
}
