import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { startPostgres } from './server.ts';

let server: Promise<string> | undefined;

/** The server for databases: `TEST_DATABASE_URL`, or else one that is started now and ends with this process. */
function serverUrl(): Promise<string> {
  const configuredUrl = process.env['TEST_DATABASE_URL'];
  server ??= configuredUrl ? Promise.resolve(configuredUrl) : startPostgres().then(({ url }) => url);
  return server;
}

export interface TestDatabase {
  readonly url: string;
  /** Drops it, even if clients are connected. */
  readonly drop: () => Promise<void>;
}

/** Makes a database: an empty one, or a copy of another one of the server, to which nobody is connected. */
export async function createDatabase(template = 'template0'): Promise<TestDatabase> {
  const base = await serverUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await command(base, `create database ${name} template ${template} encoding 'UTF8'`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => command(base, `drop database if exists ${name} with (force)`) };
}

async function command(connectionString: string, text: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
