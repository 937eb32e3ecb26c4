import { createToken } from '../accounts/tokens.ts';
import type { Permission } from '../plugins/permissions.ts';
import type { EditorToken } from '../storage/tables/editor-tokens.ts';
import type { ServiceContext } from './context.ts';
import { tenantDeleted, tenantSuspended } from './errors.ts';

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
  const { editorTokens, tenants } = storage.tables;
  const { scope, permissions, actor } = editorToken;
  const token = createToken('editor');
  const addToken = () => editorTokens.add(token, editorToken, now(), now() + lifetime * 1000);
  if (!(await addToken())) {
    // Most tenants exist and are active, so that the reason is looked up only after the token could not be added.
    await tenants.addFirst(scope, now());
    if (!(await addToken())) throw (await tenants.find(scope)) ? tenantSuspended() : tenantDeleted();
  }
  return { token, expires_in: lifetime, permissions, ...(actor !== undefined && { actor }) };
}
