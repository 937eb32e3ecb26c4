import { createToken } from '../accounts/tokens.ts';
import type { Permission } from '../plugins/permissions.ts';
import type { EditorToken } from '../storage/tables/editor-tokens.ts';
import type { ServiceContext } from './context.ts';
import { tenantDeleted, tenantSuspended } from './errors.ts';

/** What is said of a token that was made. */
export interface IssuedToken {
  readonly token: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly permissions: readonly Permission[];
  readonly actor?: string;
}

/**
 * Makes an editor token that lives for so many seconds, and its tenant if that was never there. Throws 403 where the tenant is
 * suspended or was deleted.
 */
export async function issueEditorToken(
  { storage, now }: Pick<ServiceContext, 'storage' | 'now'>,
  editorToken: EditorToken,
  lifetime: number,
): Promise<IssuedToken> {
  const { editorTokens, tenants } = storage.tables;
  const { scope, permissions, actor } = editorToken;
  const token = createToken('editor');
  const isAdded = () => editorTokens.add(token, editorToken, now(), now() + lifetime * 1000);
  if (!(await isAdded())) {
    // Whether it is missing, suspended or deleted matters little to most requests, and is asked only now.
    await tenants.addFirst(scope, now());
    if (!(await isAdded())) throw (await tenants.find(scope)) ? tenantSuspended() : tenantDeleted();
  }
  return { token, expires_in: lifetime, permissions, ...(actor !== undefined && { actor }) };
}
