import { sql } from 'kysely';
import type { Connection } from '../../plugins/connections.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { CompiledSchemas, Schemas } from '../../plugins/schemas.ts';
import { mebibyte } from '../../units.ts';
import { schemasDigestOf } from './digest.ts';
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
}

export interface NamespaceRecord {
  readonly namespace: string;
  readonly details: NamespaceDetails;
}

/** The compiled types of a namespace, for builds and checks. */
export interface NamespaceTypes {
  /** See `digest.ts`; empty without types. */
  readonly schemasDigest: string;
  /** The declarations in TypeScript; empty without types. */
  readonly declarations: string;
  readonly compiled: CompiledSchemas | undefined;
}

const noTypes: NamespaceTypes = { schemasDigest: '', declarations: '', compiled: undefined };

/** How many bytes the records of one page may have together. A page always has at least one record. */
const pageSize = mebibyte;

/** Finds the record of a namespace; `undefined` when there is none. */
export async function findNamespace(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceRecord | undefined> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['name', 'record'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  return row && toRecord(row);
}

/** The compiled types of a namespace, for builds. */
export async function readNamespaceTypes(
  db: Db,
  { environment, namespace }: NamespaceKey,
): Promise<NamespaceTypes> {
  const row = await db.query
    .selectFrom('namespaces')
    .select(['schemas_digest', 'declarations', 'compiled'])
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  if (!row) return noTypes;
  return {
    schemasDigest: row.schemas_digest,
    declarations: row.declarations,
    compiled: row.compiled === null ? undefined : (JSON.parse(row.compiled) as CompiledSchemas),
  };
}

/** Only the declarations in TypeScript, for checks; empty without types. */
export async function readDeclarations(db: Db, { environment, namespace }: NamespaceKey): Promise<string> {
  const row = await db.query
    .selectFrom('namespaces')
    .select('declarations')
    .where('environment', '=', environment)
    .where('name', '=', namespace)
    .executeTakeFirst();
  return row?.declarations ?? '';
}

/** The digest of a namespace's schemas; empty without types. */
export async function readSchemasDigest(db: Db, key: NamespaceKey): Promise<string> {
  const row = await db.query
    .selectNoFrom(schemasDigestOfNamespace(db, key).as('digest'))
    .executeTakeFirstOrThrow();
  return row.digest ?? '';
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
    .select(['name', 'record'])
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
  // As JSON, which escapes characters that databases cannot store.
  const record = JSON.stringify(details);
  const columns = {
    record,
    record_size: record.length,
    schemas_digest: schemasDigestOf(details),
    compiled: compiled ? JSON.stringify(compiled) : null,
    declarations: declarations.replaceAll('\0', '\ufffd').toWellFormed(),
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

/** A subselect of the digest of a namespace's schemas, to be compared with a column; empty without types. */
export const schemasDigestOfNamespace = ({ query }: Db, { environment, namespace }: NamespaceKey) =>
  sql<string>`coalesce((${query
    .selectFrom('namespaces')
    .select('schemas_digest')
    .where('environment', '=', environment)
    .where('name', '=', namespace)}), '')`;

const toRecord = ({ name, record }: { readonly name: string; readonly record: string }): NamespaceRecord => ({
  namespace: name,
  details: JSON.parse(record) as NamespaceDetails,
});
