import { resolve } from 'node:path';
import { StartError } from '../start-error.ts';

/** The database that the service keeps its state in. */
export type DatabaseAddress =
  | {
      readonly engine: 'sqlite';
      /** An absolute path. */
      readonly file: string;
    }
  | {
      readonly engine: 'postgres';
      /** With the password, so it must never be shown. */
      readonly url: string;
      /** The address without password and options, for messages. */
      readonly shown: string;
    };

const forms = 'sqlite:<path> or postgres://user:password@host:5432/database';

/**
 * Reads `DATABASE_URL`. Throws a {@link StartError} that says what it must be. Its message never quotes a value that could not be
 * parsed, because a password may be anywhere in it.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = text.trim();
  if (/^sqlite:/i.test(url)) return { engine: 'sqlite', file: sqliteFile(url.slice('sqlite:'.length)) };
  if (/^postgres(?:ql)?:\/\//i.test(url)) return postgresAddress(url);
  throw new StartError(`DATABASE_URL names no database that this service knows; it must be ${forms}.`);
}

function sqliteFile(path: string): string {
  if (path === '' || /^\/\/(?!\/)/.test(path) || path.includes('\0')) {
    throw new StartError(
      'DATABASE_URL names no file; for SQLite it must be sqlite:<path>, such as sqlite:/var/lib/plugins/service.sqlite.',
    );
  }
  return resolve(path);
}

function postgresAddress(url: string): DatabaseAddress {
  let parsed: URL;
  try {
    parsed = new URL(url);
    decodeURIComponent(parsed.username + parsed.password + parsed.pathname);
  } catch {
    throw new StartError(
      `DATABASE_URL is not a valid URL; it must be ${forms}, with special characters of the password percent-encoded.`,
    );
  }
  const { username, host, pathname } = parsed;
  // Where a password holds a slash or an @ that is not encoded, its end is parsed as the path, and must not be shown.
  if (/[/@:]/.test(pathname.slice(1))) {
    throw new StartError(
      `DATABASE_URL names no database that can be used; it must be ${forms}, with special characters of the password percent-encoded.`,
    );
  }
  const shown = `postgres://${username && `${username}@`}${host}${pathname}`;
  // An empty host is valid: the path of a Unix socket may be given as the option "host".
  return { engine: 'postgres', url, shown };
}
