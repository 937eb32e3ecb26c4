import { sql } from 'kysely';
import type { Kysely, SqlBool } from 'kysely';
import type { Db } from '../db.ts';
import type { Schema } from '../schema.ts';
import { bytesToUuid } from './uuids.ts';

/** An encrypted text of the database, which `outbound/secrets.ts` has written: the id of its key, a period, and the rest. */
export interface SealedText {
  readonly sealed: string;
  readonly owner:
    | {
        readonly kind: 'connection';
        readonly environment: string;
        readonly tenantId: number;
        readonly namespace: string;
        readonly connection: string;
      }
    | { readonly kind: 'identity'; readonly id: string }
    | { readonly kind: 'webhook'; readonly id: string };
  /** Replaces it, unless it was changed meanwhile. */
  readonly replace: (sealed: string) => Promise<unknown>;
}

export interface SealedPage {
  /** The id of the key that the texts are encrypted with. */
  readonly keyId: string;
  readonly offset: number;
  readonly limit: number;
}

/** Where there are encrypted texts. Each lists those of a key, in the order of their rows. */
export const sealedColumns: readonly ((db: Db, page: SealedPage) => Promise<SealedText[]>)[] = [
  async ({ query }, { keyId, offset, limit }) => {
    const rows = await query
      .selectFrom('connection_values')
      .select(['environment', 'tenant_id', 'namespace', 'connection', 'sealed'])
      .where('sealed', 'like', `${keyId}.%`)
      .orderBy('environment')
      .orderBy('tenant_id')
      .orderBy('namespace')
      .orderBy('connection')
      .offset(offset)
      .limit(limit)
      .execute();
    return rows.map(({ sealed, tenant_id: tenantId, ...key }) => ({
      sealed: sealed ?? '',
      owner: { kind: 'connection', ...key, tenantId },
      replace: (replaced) =>
        query
          .updateTable('connection_values')
          .set({ sealed: replaced })
          .where('environment', '=', key.environment)
          .where('tenant_id', '=', tenantId)
          .where('namespace', '=', key.namespace)
          .where('connection', '=', key.connection)
          .where('sealed', '=', sealed)
          .execute(),
    }));
  },
  async ({ query }, { keyId, offset, limit }) => {
    const rows = await query
      .selectFrom('identity_keys')
      .select(['id', 'sealed'])
      .where('sealed', 'like', `${keyId}.%`)
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute();
    return rows.map(({ id, sealed }) => ({
      sealed,
      owner: { kind: 'identity', id },
      replace: (replaced) =>
        query
          .updateTable('identity_keys')
          .set({ sealed: replaced })
          .where('id', '=', id)
          .where('sealed', '=', sealed)
          .execute(),
    }));
  },
  (db, page) => webhookTexts(db, page, 'sealed_secret'),
  (db, page) => webhookTexts(db, page, 'former_secret'),
];

async function webhookTexts(
  { query }: Db,
  { keyId, offset, limit }: SealedPage,
  column: 'sealed_secret' | 'former_secret',
): Promise<SealedText[]> {
  const rows = await query
    .selectFrom('webhooks')
    .select(['id', `${column} as sealed`])
    .where(column, 'like', `${keyId}.%`)
    .orderBy('id')
    .offset(offset)
    .limit(limit)
    .execute();
  return rows.map(({ id, sealed }) => ({
    sealed: sealed ?? '',
    owner: { kind: 'webhook', id: bytesToUuid(id) },
    replace: (replaced) =>
      query
        .updateTable('webhooks')
        .set({ [column]: replaced })
        .where('id', '=', id)
        .where(column, '=', sealed)
        .execute(),
  }));
}

/** How many encrypted texts there are of each key, by the key's id, without secrets of webhooks that have ended. */
export async function countSealedTexts(query: Kysely<Schema>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [table, column] of [
    ['connection_values', 'sealed'],
    ['identity_keys', 'sealed'],
    ['webhooks', 'sealed_secret'],
    ['webhooks', 'former_secret'],
  ] as const) {
    const keyId = sql<string>`substr(${sql.ref(column)}, 1, 12)`;
    const rows = await query
      .selectFrom(table)
      .select([keyId.as('keyId'), (select) => select.fn.countAll<number>().as('count')])
      .where(sql<SqlBool>`${sql.ref(column)} is not null`)
      .$if(column === 'former_secret', (rest) => rest.where(sql<SqlBool>`former_ends_at > ${Date.now()}`))
      .groupBy(keyId)
      .execute();
    for (const row of rows) counts.set(row.keyId, (counts.get(row.keyId) ?? 0) + row.count);
  }
  return counts;
}
