import type { TenantKey } from '../../plugins/plugin-key.ts';
import { lock } from '../db.ts';
import type { Db, Transaction } from '../db.ts';
import { namespaceCacheKey, selectTenant } from './names.ts';
import type { NamespaceKey } from './namespaces.ts';

/** Which value is meant: that of a tenant, or without one that of the environment, for tenants that have none. */
export interface ValueOwner {
  readonly environment: string;
  readonly tenant?: string | undefined;
}

/** What is stored for a connection: the encrypted value of its credential, and where it has a wildcard, the tenant's origin. */
export interface StoredValue {
  /** The number of the tenant; 0 for the value of the environment. */
  readonly tenantId: number;
  /** See `outbound/secrets.ts`. */
  readonly sealed?: string;
  readonly origin?: string;
}

/** What a tenant's plugins have for a connection. */
export interface ConnectionValues {
  readonly tenant?: StoredValue;
  readonly environment?: StoredValue;
}

/** The values of the environment have this instead of a tenant's number. */
const ofEnvironment = 0;

/** Locks a namespace's record and the values of its connections, as `lock` of `db.ts` does. */
export const lockNamespace = (db: Transaction, key: NamespaceKey): Promise<void> =>
  lock(db, `namespace ${namespaceCacheKey(key)}`);

/** Notes that what a namespace's plugins may reach has changed, or the values for it. */
export function noteConnections(db: Transaction, key: NamespaceKey): void {
  db.changes.push({ kind: 'connections', key: namespaceCacheKey(key) });
}

/** Finds what a tenant's plugins have for a connection; `undefined` where the tenant is not there. */
export async function findConnectionValues(
  db: Db,
  { environment, tenant, namespace }: TenantKey & NamespaceKey,
  connection: string,
): Promise<ConnectionValues | undefined> {
  const rows = await selectTenant(db, { environment, tenant })
    .leftJoin('connection_values', (join) =>
      join
        .onRef('connection_values.environment', '=', 'tenants.environment')
        .on((eb) =>
          eb.or([
            eb('connection_values.tenant_id', '=', ofEnvironment),
            eb('connection_values.tenant_id', '=', eb.ref('tenants.id')),
          ]),
        )
        .on('connection_values.namespace', '=', namespace)
        .on('connection_values.connection', '=', connection),
    )
    .select(['connection_values.tenant_id', 'sealed', 'origin'])
    .execute();
  if (!rows.length) return undefined;
  const found = rows.map(toValue);
  const [ofTenant, shared] = [
    found.find((value) => value && value.tenantId !== ofEnvironment),
    found.find((value) => value?.tenantId === ofEnvironment),
  ];
  return { ...(ofTenant && { tenant: ofTenant }), ...(shared && { environment: shared }) };
}

function toValue(row: {
  readonly tenant_id: number | null;
  readonly sealed: string | null;
  readonly origin: string | null;
}): StoredValue | undefined {
  if (row.tenant_id === null) return undefined;
  return {
    tenantId: row.tenant_id,
    ...(row.sealed !== null && { sealed: row.sealed }),
    ...(row.origin !== null && { origin: row.origin }),
  };
}

/**
 * The number that an owner's rows have; `undefined` where the tenant is not there.
 * @param isKept whether the tenant's rows are not erased until the transaction ends, so that it may write some
 */
export async function findOwnerId(
  db: Db,
  { environment, tenant }: ValueOwner,
  isKept: boolean,
): Promise<number | undefined> {
  if (tenant === undefined) return ofEnvironment;
  const row = await selectTenant(db, { environment, tenant })
    .select('tenants.id')
    .$if(isKept, (select) => select.modifyEnd(db.engine.forKeyShare('tenants')))
    .executeTakeFirst();
  return row?.id;
}

/** Which row: its connection, and the number of its owner by {@link findOwnerId}. */
export interface ValueKey extends NamespaceKey {
  readonly ownerId: number;
  readonly connection: string;
}

/** Sets the fields that are given. The transaction must have locked the namespace. */
export async function setConnectionValue(
  db: Transaction,
  key: ValueKey,
  { sealed, origin }: { readonly sealed?: string | undefined; readonly origin?: string | undefined },
  now: number,
): Promise<void> {
  const columns = {
    ...(sealed !== undefined && { sealed }),
    ...(origin !== undefined && { origin }),
    updated_at: now,
  };
  await db.query
    .insertInto('connection_values')
    .values({
      environment: key.environment,
      tenant_id: key.ownerId,
      namespace: key.namespace,
      connection: key.connection,
      ...columns,
    })
    .onConflict((conflict) =>
      conflict.columns(['environment', 'tenant_id', 'namespace', 'connection']).doUpdateSet(columns),
    )
    .execute();
  noteConnections(db, key);
}

/** Deletes what an owner has for a connection. */
export async function deleteConnectionValue(db: Transaction, key: ValueKey): Promise<void> {
  await db.query
    .deleteFrom('connection_values')
    .where('environment', '=', key.environment)
    .where('tenant_id', '=', key.ownerId)
    .where('namespace', '=', key.namespace)
    .where('connection', '=', key.connection)
    .execute();
  noteConnections(db, key);
}

/** Deletes the values of all owners for connections of a namespace that are there no more. */
export async function deleteValuesOf(
  db: Transaction,
  { environment, namespace }: NamespaceKey,
  connections: readonly string[],
): Promise<void> {
  if (!connections.length) return;
  await db.query
    .deleteFrom('connection_values')
    .where('environment', '=', environment)
    .where('namespace', '=', namespace)
    .where('connection', 'in', connections)
    .execute();
}

/** Lists what an owner has, by namespace and connection, after the key `after`. */
export function listConnectionValues(
  { query }: Db,
  { environment, ownerId }: { readonly environment: string; readonly ownerId: number },
  { after, limit }: { readonly after?: readonly [string, string] | undefined; readonly limit: number },
) {
  return query
    .selectFrom('connection_values')
    .select(['namespace', 'connection', 'origin', 'updated_at'])
    .where('environment', '=', environment)
    .where('tenant_id', '=', ownerId)
    .$if(after !== undefined, (some) =>
      some.where((eb) =>
        eb.or([
          eb('namespace', '>', after?.[0] ?? ''),
          eb.and([eb('namespace', '=', after?.[0] ?? ''), eb('connection', '>', after?.[1] ?? '')]),
        ]),
      ),
    )
    .orderBy('namespace')
    .orderBy('connection')
    .limit(limit)
    .execute();
}
