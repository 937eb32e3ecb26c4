import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { DatabaseAddress } from './database-url.ts';
import { isUpToDate } from './migrations/migrate.ts';
import { reasonOf } from './reason.ts';
import type { Schema } from './schema.ts';
import { openEngine } from './storage.ts';

/** What there is to say of a database; `problem`: why it cannot be used. */
export type Inspection =
  | { readonly problem: string }
  | {
      readonly description: string;
      /** Whether what it acknowledges is on the disk. */
      readonly isDurable: boolean;
      readonly schema: 'current' | 'old' | { readonly problem: string };
    };

/** Looks at a database that is there, and changes none of its data. */
export async function inspectDatabase(address: DatabaseAddress): Promise<Inspection> {
  let engine;
  try {
    engine = await openEngine(address);
  } catch (error) {
    return { problem: reasonOf(error) };
  }
  try {
    const described =
      engine.name === 'postgres'
        ? await describePostgres(engine.db, engine.shown)
        : { description: `SQLite at ${engine.shown}; every write is synchronous`, isDurable: true };
    try {
      return { ...described, schema: (await isUpToDate(engine, engine.db)) ? 'current' : 'old' };
    } catch (error) {
      return { ...described, schema: { problem: reasonOf(error) } };
    }
  } catch (error) {
    return { problem: reasonOf(error) };
  } finally {
    await engine.close();
  }
}

async function describePostgres(db: Kysely<Schema>, shown: string) {
  const { rows } = await sql<{ version: string; fsync: string; commit: string }>`select
    current_setting('server_version') as version,
    current_setting('fsync') as fsync,
    current_setting('synchronous_commit') as commit`.execute(db);
  const [{ version, fsync, commit } = { version: '', fsync: '', commit: '' }] = rows;
  // Everything but off: the others differ in what standbys have done by then.
  const isDurable = fsync === 'on' && commit !== 'off';
  const advice = isDurable ? '' : '; both must be on, or acknowledged writes can be lost';
  return {
    description: `PostgreSQL ${version} at ${shown}; fsync is ${fsync}, synchronous_commit is ${commit}${advice}`,
    isDurable,
  };
}
