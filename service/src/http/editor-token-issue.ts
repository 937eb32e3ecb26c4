import { createToken } from '../accounts/tokens.ts';
import type { EditorToken } from '../storage/tables/editor-tokens.ts';
import type { ServiceContext } from './context.ts';
import { tenantDeleted, tenantSuspended } from './errors.ts';

/**
 * Makes an editor token that lives for so many seconds, and its tenant if that was never there. Throws 403 where the tenant is
 * suspended or was deleted.
 */
export async function issueEditorToken(
  { storage, now }: Pick<ServiceContext, 'storage' | 'now'>,
  editorToken: EditorToken,
  lifetime: number,
): Promise<string> {
  const { editorTokens, tenants } = storage.tables;
  const { scope } = editorToken;
  const token = createToken('editor');
  const isAdded = () => editorTokens.add(token, editorToken, now(), now() + lifetime * 1000);
  if (await isAdded()) return token;
  await tenants.addFirst(scope, now());
  if (await isAdded()) return token;
  if (await tenants.find(scope)) throw tenantSuspended();
  throw tenantDeleted();
}
