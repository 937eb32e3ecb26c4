import { sql } from 'kysely';
import type { Connection } from '../../plugins/connections.ts';
import type { LibraryInterface, LibraryVersions } from '../../plugins/libraries.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { CompiledSchemas, Schemas } from '../../plugins/schemas.ts';
import { mebibyte } from '../../units.ts';
import { librariesDigestOf, noDigests, schemasDigestOf } from './digest.ts';
import type { NamespaceDigests } from './digest.ts';
import { readLibraryInterfaces } from './libraries.ts';
import type { Db } from '../db.ts';

/** The names that identify a namespace. */
export type NamespaceKey = Pick<PluginKey, 'environment' | 'namespace'>;

/** An example of an input, and of the output for it. */
export interface Sample {
  readonly name: string;
  readonly description?: string | undefined;
  readonly input: unknown;
  readonly output?: unknown;
}

/** The record of a namespace, as a vendor writes it. */
export interface NamespaceDetails extends Schemas {
  readonly description?: string | undefined;
  readonly samples?: readonly Sample[] | undefined;
  /** Source for new plugins, by language. */
  readonly templates?: Readonly<Record<string, string>> | undefined;
  /** What its plugins may reach. */
  readonly connections?: readonly Connection[] | undefined;
  /** What its plugins may import. */
  readonly libraries?: LibraryVersions | undefined;
}

export interface NamespaceRecord {
  readonly namespace: string;
  readonly details: NamespaceDetails;
}

/** What checks of sources have to know of a namespace. */
export interface NamespaceDeclarations {
  /** The declarations in TypeScript; empty without types. */
  readonly declarations: string;
  readonly libraries: readonly LibraryInterface[];
}

/** The compiled types and the libraries of a namespace, for builds. */
export interface NamespaceTypes extends NamespaceDigests, NamespaceDeclarations {
  readonly compiled: CompiledSchemas | undefined;
  readonly libraryVersions: LibraryVersions;
}

const noTypes: NamespaceTypes = {
  ...noDigests,
  declarations: '',
  compiled: undefined,
  libraries: [],
  libraryVersions: {},
};

/** How many bytes the records of one page may have together. A page always has at least one record. */
const pageSize = mebibyte;

/** Finds the record of a namespace; `undefined` when there is none. */
export async function findNamespace(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceRecord | undefined> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['name', 'record', 'libraries'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  return row && toRecord(row);
}

/** The record of a namespace with its declarations and libraries; `undefined` when there is none. */
export async function findDeclaredNamespace(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<(NamespaceRecord & NamespaceDeclarations) | undefined> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['name', 'record', 'declarations', 'libraries'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  if (!row) return undefined;
  const libraries = await readInterfaces(db, environment, readVersions(row.libraries));
  return { ...toRecord(row), declarations: row.declarations, libraries };
}

/** The compiled types and the libraries of a namespace, for builds. */
export async function readNamespaceTypes(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceTypes> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['schemas_digest', 'declarations', 'compiled', 'libraries', 'libraries_digest'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  if (!row) return noTypes;
  const libraryVersions = readVersions(row.libraries);
  return {
    schemasDigest: row.schemas_digest,
    librariesDigest: row.libraries_digest,
    libraryVersions,
    libraries: await readInterfaces(db, environment, libraryVersions),
    declarations: row.declarations,
    compiled: row.compiled === null ? undefined : (JSON.parse(row.compiled) as CompiledSchemas),
  };
}

/** Only what checks need. */
export async function readDeclarations(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceDeclarations> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['declarations', 'libraries'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  const libraries = await readInterfaces(db, environment, readVersions(row?.libraries ?? null));
  return { declarations: row?.declarations ?? '', libraries };
}

const readVersions = (json: string | null): LibraryVersions =>
  json === null ? {} : (JSON.parse(json) as LibraryVersions);

const readInterfaces = async (db: Db, environment: string, versions: LibraryVersions) =>
  Object.keys(versions).length ? readLibraryInterfaces(db, environment, versions) : [];

/** The digests of what builds depend on in a namespace's record. */
export async function readNamespaceDigests(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceDigests> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['schemas_digest as schemasDigest', 'libraries_digest as librariesDigest'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  return row ?? noDigests;
}

/**
 * Lists the namespaces of an environment by name, after the name `after`: at most `limit`, and fewer where records are long.
 * `isLast` is false when there are more.
 */
export async function listNamespaces(
  db: Db,
  environment: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<{ readonly records: readonly NamespaceRecord[]; readonly isLast: boolean }> {
  const sizes = await db.query
    .selectFrom('namespaces')
    .select('name')
    .select(sql<number>`octet_length(record)`.as('size'))
    .where('environment', '=', environment)
    .$if(after !== undefined, (query) => query.where('name', '>', after ?? ''))
    .orderBy('name')
    .limit(limit + 1)
    .execute();
  let room = pageSize;
  const fits = ({ size }: { size: number }, i: number) => i < limit && ((room -= size) >= 0 || i === 0);
  const end = sizes.findIndex((row, i) => !fits(row, i));
  const names = (end < 0 ? sizes : sizes.slice(0, end)).map(({ name }) => name);
  if (!names.length) return { records: [], isLast: true };
  const rows = await db.query
    .selectFrom('namespaces')
    .select(['name', 'record', 'libraries'])
    .where('environment', '=', environment)
    .where('name', 'in', names)
    .orderBy('name')
    .execute();
  return { records: rows.map(toRecord), isLast: end < 0 };
}

/** Replaces the record of a namespace. Resolves with true when it had none before. */
export async function replaceNamespace(
  db: Db,
  { environment, namespace }: NamespaceKey,
  details: NamespaceDetails,
  { compiled, declarations }: Pick<NamespaceTypes, 'compiled' | 'declarations'>,
  now: number,
): Promise<boolean> {
  const { libraries, ...rest } = details;
  // As JSON, which escapes characters that databases cannot store.
  const record = JSON.stringify(rest);
  const columns = {
    record,
    record_size: record.length,
    schemas_digest: schemasDigestOf(details),
    compiled: compiled ? JSON.stringify(compiled) : null,
    declarations: declarations.replaceAll('\0', '\ufffd').toWellFormed(),
    libraries: libraries ? JSON.stringify(libraries) : null,
    libraries_digest: librariesDigestOf(libraries),
    updated_at: now,
  };
  for (;;) {
    const changed = await db.query
      .updateTable('namespaces')
      .set(columns)
      .where('environment', '=', environment)
      .where('name', '=', namespace)
      .returning('name')
      .executeTakeFirst();
    if (changed) return false;
    const added = await db.query
      .insertInto('namespaces')
      .values({ environment, name: namespace, ...columns })
      .onConflict((conflict) => conflict.doNothing())
      .returning('name')
      .executeTakeFirst();
    // Otherwise another request has added the record between the two statements.
    if (added) return true;
  }
}

/** Replaces the compiled schemas of a namespace, unless its schemas were changed meanwhile. */
export async function replaceCompiledSchemas(
  db: Db,
  { environment, namespace }: NamespaceKey,
  schemasDigest: string,
  compiled: CompiledSchemas,
): Promise<void> {
  await db.query
    .updateTable('namespaces')
    .set({ compiled: JSON.stringify(compiled) })
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .where('schemas_digest', '=', schemasDigest)
    .execute();
}

/** Deletes the record of a namespace. Resolves with false when there is none. */
export async function deleteNamespace(db: Db, { environment, namespace }: NamespaceKey): Promise<boolean> {
  const row = await db.query
    .deleteFrom('namespaces')
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** A subselect of a digest of a namespace's record, to be compared with a column; empty without a record. */
export const digestOfNamespace = (
  { query }: Db,
  { environment, namespace }: NamespaceKey,
  column: 'schemas_digest' | 'libraries_digest',
) =>
  sql<string>`coalesce((${query
    .selectFrom('namespaces')
    .select(column)
    .where('environment', '=', environment)
    .where('name', '=', namespace)}), '')`;

const toRecord = ({
  name,
  record,
  libraries,
}: {
  readonly name: string;
  readonly record: string;
  readonly libraries: string | null;
}): NamespaceRecord => ({
  namespace: name,
  details: {
    ...(JSON.parse(record) as NamespaceDetails),
    ...(libraries !== null && { libraries: readVersions(libraries) }),
  },
});
