import type { Db } from '../db.ts';

/** A key that signs who a plugin's request is from. */
export interface IdentityKey {
  readonly id: string;
  /** A JSON Web Key. */
  readonly publicKey: string;
  /** The private key, encrypted. */
  readonly sealed: string;
  /** When it takes over from the one before, in milliseconds since the epoch. */
  readonly signsFrom: number;
}

/** All keys, in the order in which they sign. */
export async function listIdentityKeys({ query }: Db): Promise<readonly IdentityKey[]> {
  const rows = await query
    .selectFrom('identity_keys')
    .selectAll()
    .orderBy('signs_from')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    publicKey: row.public_key,
    sealed: row.sealed,
    signsFrom: row.signs_from,
  }));
}

export async function insertIdentityKey(
  { query }: Db,
  { id, publicKey, sealed, signsFrom }: IdentityKey,
): Promise<void> {
  await query
    .insertInto('identity_keys')
    .values({ id, public_key: publicKey, sealed, signs_from: signsFrom })
    .execute();
}

export async function deleteIdentityKeys({ query }: Db, ids: readonly string[]): Promise<void> {
  if (ids.length) await query.deleteFrom('identity_keys').where('id', 'in', ids).execute();
}
