import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
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
