import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { type TestServer, startPostgres } from './server.ts';

let started: Promise<TestServer> | undefined;

/** The server for databases: `TEST_DATABASE_URL`, or else one that is started now and ends with this process. */
async function serverUrl(): Promise<string> {
  return process.env['TEST_DATABASE_URL'] || (await (started ??= startPostgres())).url;
}

export interface TestDatabase {
  readonly url: string;
  /** Drops it, even if clients are connected. */
  readonly drop: () => Promise<void>;
}

/** Makes a database: an empty one, or a copy of another one of the server, to which nobody is connected. */
export async function createDatabase(template = 'template0'): Promise<TestDatabase> {
  const base = await serverUrl();
  const pool = poolOf(base);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await pool.query(`create database ${name} template ${template} encoding 'UTF8'${await strategy(pool)}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  const drop = async () => void (await pool.query(`drop database if exists ${name} with (force)`));
  return { url: url.href, drop };
}

const pools = new Map<string, Pool>();

/** The connections to the initial database of a server. They do not keep this process running. */
function poolOf(connectionString: string): Pool {
  let pool = pools.get(connectionString);
  if (!pool) {
    pools.set(connectionString, (pool = new Pool({ connectionString, max: 2, allowExitOnIdle: true })));
    // The server may end before this process does.
    pool.on('error', () => {});
  }
  return pool;
}

/** PostgreSQL 14 copies the files of a template; later ones copy by their log, which takes more than twice the time. */
async function strategy(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return (rows[0]?.version ?? 0) >= 150_000 ? ' strategy file_copy' : '';
}
