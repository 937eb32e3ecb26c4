import { sql } from 'kysely';
import type { SqlBool } from 'kysely';
import { lock } from '../db.ts';
import type { Db, Transaction } from '../db.ts';
import type { Library, LibraryInterface, LibraryVersions } from '../../plugins/libraries.ts';
import { libraryDigestOf } from './digest.ts';

/** The names that identify a version of a library. */
export interface LibraryKey {
  readonly environment: string;
  readonly name: string;
  readonly version: string;
}

export interface LibraryRecord {
  readonly name: string;
  readonly version: string;
  /** Of its source, in UTF-8. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** What the column `details` holds, as JSON. */
type Details = Omit<LibraryInterface, 'name' | 'version'>;

/** Locks the libraries of an environment, and which of them its namespaces have, as `lock` of `db.ts` does. */
export const lockLibraries = (db: Transaction, environment: string): Promise<void> =>
  lock(db, `libraries ${environment}`);

const select = ({ query }: Db, { environment, name, version }: LibraryKey) =>
  query
    .selectFrom('libraries')
    .where('environment', '=', environment)
    .where('name', '=', name)
    .where('version', '=', version);

/** Finds a version of a library; `undefined` where there is none, or it was deleted. */
export async function findLibrary(db: Db, key: LibraryKey): Promise<(LibraryRecord & Library) | undefined> {
  const row = await select(db, key)
    .select(['contents', 'details', 'bytes', 'created_at'])
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const { declarations, description } = JSON.parse(row.details ?? '{}') as Details;
  return {
    name: key.name,
    version: key.version,
    bytes: row.bytes,
    createdAt: row.created_at,
    contents: JSON.parse(row.contents ?? '""') as string,
    ...(declarations !== undefined && { declarations }),
    ...(description !== undefined && { description }),
  };
}

/**
 * Compares a library with what was published under its name and version: `other` where that differs, even if it was deleted, and
 * `missing` where there is nothing now.
 */
export async function compareLibrary(
  db: Db,
  key: LibraryKey,
  library: Library,
): Promise<'equal' | 'other' | 'missing'> {
  const row = await select(db, key).select(['digest', 'deleted_at']).executeTakeFirst();
  if (row && row.digest !== libraryDigestOf(library)) return 'other';
  return row?.deleted_at === null ? 'equal' : 'missing';
}

export async function countLibraries(db: Db, environment: string): Promise<number> {
  const row = await db.query
    .selectFrom('libraries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('environment', '=', environment)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Adds a version of a library, or puts back one that was deleted. The transaction must have found it `missing`. */
export async function addLibrary(
  db: Transaction,
  key: LibraryKey,
  library: Library,
  exported: readonly string[],
  now: number,
): Promise<LibraryRecord> {
  const { contents, declarations, description } = library;
  // As JSON, which escapes characters that databases cannot store.
  const columns = {
    contents: JSON.stringify(contents),
    details: JSON.stringify({ exports: exported, declarations, description } satisfies Details),
    created_at: now,
    deleted_at: null,
  };
  const bytes = Buffer.byteLength(contents);
  await db.query
    .insertInto('libraries')
    .values({ ...key, ...columns, digest: libraryDigestOf(library), bytes })
    .onConflict((conflict) => conflict.columns(['environment', 'name', 'version']).doUpdateSet(columns))
    .execute();
  return { name: key.name, version: key.version, bytes, createdAt: now };
}

/** Deletes a version of a library. Resolves with false where there is none. */
export async function deleteLibrary(db: Transaction, key: LibraryKey, now: number): Promise<boolean> {
  const row = await db.query
    .updateTable('libraries')
    .set({ contents: null, details: null, deleted_at: now })
    .where('environment', '=', key.environment)
    .where('name', '=', key.name)
    .where('version', '=', key.version)
    .where('deleted_at', 'is', null)
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists the libraries of an environment by name and version, after those of `after`. */
export async function listLibraries(
  db: Db,
  environment: string,
  {
    after,
    limit,
  }: { readonly after?: readonly [name: string, version: string] | undefined; readonly limit: number },
): Promise<LibraryRecord[]> {
  const rows = await db.query
    .selectFrom('libraries')
    .select(['name', 'version', 'bytes', 'created_at'])
    .where('environment', '=', environment)
    .where('deleted_at', 'is', null)
    .$if(after !== undefined, (query) =>
      query.where((eb) => eb(eb.refTuple('name', 'version'), '>', eb.tuple(...(after ?? ['', ''])))),
    )
    .orderBy('name')
    .orderBy('version')
    .limit(limit)
    .execute();
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}

/** The name of a namespace that has a version of a library; `undefined` where none has. */
export async function findNamespaceWith(
  db: Db,
  { environment, name, version }: LibraryKey,
): Promise<string | undefined> {
  // As `JSON.stringify` writes it in the column; neither of the two holds a quotation mark.
  const entry = `"${name}":"${version}"`;
  const row = await db.query
    .selectFrom('namespaces')
    .select('name')
    .where('environment', '=', environment)
    .where(sql<SqlBool>`replace(libraries, ${entry}, '') <> libraries`)
    .orderBy('name')
    .limit(1)
    .executeTakeFirst();
  return row?.name;
}

/** Selects the given versions of libraries that are there, by name. */
const selectVersions = ({ query }: Db, environment: string, versions: LibraryVersions) =>
  query
    .selectFrom('libraries')
    .where('environment', '=', environment)
    .where('deleted_at', 'is', null)
    .where((eb) =>
      eb.or(
        Object.entries(versions).map(([name, version]) =>
          eb.and([eb('name', '=', name), eb('version', '=', version)]),
        ),
      ),
    )
    .orderBy('name');

/** How many bytes the given libraries have: their sources, and what {@link readLibraryInterfaces} reads. */
export const measureLibraries = (
  db: Db,
  environment: string,
  versions: LibraryVersions,
): Promise<{ readonly name: string; readonly ofContents: number; readonly ofInterface: number }[]> =>
  selectVersions(db, environment, versions)
    .select(['name', 'bytes as ofContents'])
    .select(sql<number>`octet_length(details)`.as('ofInterface'))
    .execute();

/** What builds and authors have to know of the given libraries, by name. Those that are not there are left out. */
export async function readLibraryInterfaces(
  db: Db,
  environment: string,
  versions: LibraryVersions,
): Promise<LibraryInterface[]> {
  const rows = await selectVersions(db, environment, versions)
    .select(['name', 'version', 'details'])
    .execute();
  return rows.map(({ name, version, details }) => {
    const { exports, declarations, description } = JSON.parse(details ?? '{"exports":[]}') as Details;
    return {
      name,
      version,
      exports,
      ...(declarations !== undefined && { declarations }),
      ...(description !== undefined && { description }),
    };
  });
}

/** The sources of the given libraries, by name. Those that are not there are left out. */
export async function readLibraryContents(
  db: Db,
  environment: string,
  versions: LibraryVersions,
): Promise<Readonly<Record<string, string>>> {
  const rows = await selectVersions(db, environment, versions).select(['name', 'contents']).execute();
  return Object.fromEntries(rows.map(({ name, contents }) => [name, JSON.parse(contents ?? '""') as string]));
}
