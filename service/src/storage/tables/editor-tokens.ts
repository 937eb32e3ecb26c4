import { sql } from 'kysely';
import type { Permission } from '../../plugins/permissions.ts';
import type { PluginScope } from '../../plugins/plugin-key.ts';
import { hashToken } from '../../tokens.ts';
import { selectTenant } from './names.ts';
import type { Db } from '../db.ts';

/** The plugins that an editor token is for, its permissions, and whom it was made for. */
export interface EditorToken {
  readonly scope: PluginScope;
  readonly permissions: readonly Permission[];
  /** The vendor's id for the person whom it was made for. */
  readonly actor?: string;
}

/** An editor token that was found. */
export interface FoundEditorToken extends EditorToken {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Whether its tenant is suspended, so that it cannot be used at the moment. */
  readonly isSuspended: boolean;
}

/** How many tokens one statement deletes, so that others have not long to wait for the database. */
const deletedAtOnce = 200;

/**
 * Adds a token, and removes some of those that have expired. Resolves with false, without adding it, when its tenant does not exist or is
 * suspended.
 */
export async function addEditorToken(
  db: Db,
  token: string,
  { scope, permissions, actor }: EditorToken,
  now: number,
  expiresAt: number,
): Promise<boolean> {
  await pruneTokens(db, now);
  const row = await db.query
    .insertInto('editor_tokens')
    .columns(['token_hash', 'tenant_id', 'namespace', 'plugin_name', 'permissions', 'actor', 'expires_at'])
    .expression(
      // In one statement, so that a tenant that is deleted at the same time gets no token.
      selectTenant(db, scope)
        .where('tenants.suspended', '=', 0)
        .select([
          sql<Uint8Array>`${hashToken(token)}`.as('token_hash'),
          'tenants.id',
          sql<string | null>`${scope.namespace ?? null}`.as('namespace'),
          sql<string | null>`${scope.pluginName ?? null}`.as('plugin_name'),
          sql<string>`${permissions.join()}`.as('permissions'),
          sql<string | null>`${actor ?? null}`.as('actor'),
          sql<number>`${expiresAt}`.as('expires_at'),
        ]),
    )
    .returning('tenant_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds a token; `undefined` when it is unknown, has expired or was ended. */
export async function findEditorToken(
  db: Db,
  token: string,
  now: number,
): Promise<FoundEditorToken | undefined> {
  const row = await db.query
    .selectFrom('editor_tokens')
    .innerJoin('tenants', 'tenants.id', 'editor_tokens.tenant_id')
    .select([
      'tenants.environment',
      'tenants.name',
      'tenants.suspended',
      'namespace',
      'plugin_name',
      'permissions',
      'actor',
      'expires_at',
    ])
    .where('token_hash', '=', hashToken(token))
    .where('expires_at', '>', now)
    .where('tenants.deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    scope: {
      environment: row.environment,
      tenant: row.name,
      ...(row.namespace !== null && { namespace: row.namespace }),
      ...(row.plugin_name !== null && { pluginName: row.plugin_name }),
    },
    permissions: row.permissions.split(',') as Permission[],
    ...(row.actor !== null && { actor: row.actor }),
    expiresAt: row.expires_at,
    isSuspended: row.suspended === 1,
  };
}

/** Whether the tenant has a token with this hash that has not been ended. */
export async function hasEditorToken(db: Db, tenantId: number, hash: Uint8Array): Promise<boolean> {
  const found = await db.query
    .selectFrom('editor_tokens')
    .select('tenant_id')
    .where('token_hash', '=', hash)
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return found !== undefined;
}

/** Ends the token with this hash. */
export async function endEditorToken(db: Db, hash: Uint8Array): Promise<void> {
  await db.query.deleteFrom('editor_tokens').where('token_hash', '=', hash).execute();
}

/** Ends some tokens of a tenant, or of those of an actor. Resolves with whether there may be more. */
export async function endSomeEditorTokens({ query }: Db, tenantId: number, actor?: string): Promise<boolean> {
  const rows = await query
    .selectFrom('editor_tokens')
    .select('token_hash')
    .where('tenant_id', '=', tenantId)
    .$if(actor !== undefined, (some) => some.where('actor', '=', actor ?? ''))
    .limit(deletedAtOnce)
    .execute();
  const hashes = rows.map((row) => row.token_hash);
  if (rows.length) await query.deleteFrom('editor_tokens').where('token_hash', 'in', hashes).execute();
  return rows.length === deletedAtOnce;
}

/** Deletes some of the tokens that have expired, but more than one, so that there are ever fewer of them. */
async function pruneTokens(db: Db, now: number): Promise<void> {
  // Skips locked rows, because two nodes that delete the same rows in different orders would deadlock.
  const expired = sql<Uint8Array>`(select token_hash from editor_tokens where expires_at <= ${now}
    order by expires_at limit ${sql.lit(deletedAtOnce)} ${db.engine.skipLocked})`;
  await db.query.deleteFrom('editor_tokens').where('token_hash', 'in', expired).execute();
}
