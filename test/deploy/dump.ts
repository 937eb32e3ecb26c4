import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { serverUser } from '../postgres/binaries.ts';
import { Cluster } from '../postgres/cluster.ts';

/*
 * A PostgreSQL that `pg_dump` of this machine can read: it refuses a server that is newer than itself, and the one that the
 * tests bring has none. So the server is the one that came with it.
 */

/** The folder of PostgreSQL's programs; `undefined` where a server or `pg_dump` is missing. */
export function dumpPrograms(): string | undefined {
  const { stdout, error } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const folders = [error ? undefined : stdout.trim(), ...debianFolders()];
  return folders.find(
    (folder) =>
      folder !== undefined &&
      ['pg_dump', 'pg_restore', 'initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
}

const debianFolders = () =>
  ['18', '17', '16', '15', '14'].map((version) => `/usr/lib/postgresql/${version}/bin`);

/** Starts a server of these programs. */
export async function startDumpServer(folder: string): Promise<Cluster> {
  const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), user: serverUser() };
  const cluster = await Cluster.create({ durable: false, binaries });
  await cluster.start();
  return cluster;
}

/** Makes an empty database beside the first one; its address. */
export async function createDatabaseAt(url: string, name: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${name} template template0 encoding 'UTF8'`);
  } finally {
    await client.end();
  }
  return new URL(`/${name}`, url).href;
}

/** Runs one of the programs, as a user may who runs them from a shell. */
export const run = (folder: string, name: string, ...args: string[]) =>
  promisify(execFile)(join(folder, name), args, { maxBuffer: 2 ** 26 });

/** The text of a dump, in which one can look for what must not be there. */
export const textOf = (folder: string, dump: string): string =>
  execFileSync(join(folder, 'pg_restore'), ['--file=-', dump], { encoding: 'utf8', maxBuffer: 2 ** 26 });
