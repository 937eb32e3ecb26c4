import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { Cluster } from '../postgres/cluster.ts';

/** Starts a server of the oldest release: `pg_dump` refuses one that is newer than itself. */
export async function startDumpServer(): Promise<Cluster> {
  const cluster = await Cluster.create({ durable: false, release: 'oldest' });
  await cluster.start();
  return cluster;
}

/** Makes a user and an empty database that it owns; the address by which that user connects. */
export async function createOwnedDatabase(superuserUrl: string, user: string, name: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    await client.query(`create role ${user} login password 'secret'`);
    await client.query(`create database ${name} owner ${user} template template0 encoding 'UTF8'`);
  } finally {
    await client.end();
  }
  const url = new URL(`/${name}`, superuserUrl);
  url.username = user;
  url.password = 'secret';
  return url.href;
}

/** Runs one of PostgreSQL's programs on this machine. */
export const run = (name: string, ...args: string[]) =>
  promisify(execFile)(name, args, { maxBuffer: 2 ** 26 });

/** The text of a dump, in which one can look for what must not be there. */
export const textOf = (dump: string): string =>
  execFileSync('pg_restore', ['--file=-', dump], { encoding: 'utf8', maxBuffer: 2 ** 26 });
