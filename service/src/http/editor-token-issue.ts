import { createToken } from '../accounts/tokens.ts';
import type { Permission } from '../plugins/permissions.ts';
import { addEditorToken } from '../storage/tables/editor-tokens.ts';
import type { EditorToken } from '../storage/tables/editor-tokens.ts';
import type { ServiceContext } from './context.ts';
import { tenantDeleted, tenantSuspended } from './errors.ts';
import { addFirstTenant, findTenant } from '../storage/tables/tenants.ts';

/** A new editor token, as operations return it. */
export interface IssuedToken {
  readonly token: string;
  /** How long the token is valid, in seconds. */
  readonly expires_in: number;
  readonly permissions: readonly Permission[];
  readonly actor?: string;
}

/**
 * Makes an editor token, and its tenant if that has never existed. Throws 403 where the tenant is suspended or was deleted.
 * @param lifetime in seconds
 */
export async function issueEditorToken(
  { storage, now }: Pick<ServiceContext, 'storage' | 'now'>,
  editorToken: EditorToken,
  lifetime: number,
): Promise<IssuedToken> {
  const { db } = storage;
  const { scope, permissions, actor } = editorToken;
  const token = createToken('editor');
  const addToken = () => addEditorToken(db, token, editorToken, now(), now() + lifetime * 1000);
  if (!(await addToken())) {
    // Most tenants exist and are active, so that the reason is looked up only after the token could not be added.
    await addFirstTenant(db, scope, now());
    if (!(await addToken())) throw (await findTenant(db, scope)) ? tenantSuspended() : tenantDeleted();
  }
  return { token, expires_in: lifetime, permissions, ...(actor !== undefined && { actor }) };
}
