import { writeAudit } from '../audit/entries.ts';
import type { AuditStamp } from '../audit/entries.ts';
import { createToken } from '../tokens.ts';
import type { Permission } from '../plugins/permissions.ts';
import type { Db, Transaction } from '../storage/db.ts';
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

export interface IssueOptions {
  /** In seconds. */
  readonly lifetime: number;
  /** Who makes the token. */
  readonly stamp: AuditStamp;
  /** Writes the entry of the audit log about the token, in its transaction (default: there is one already). */
  readonly writeEntry?: ((db: Transaction) => Promise<void>) | undefined;
}

/** Makes an editor token, and its tenant if that has never existed. Throws 403 where the tenant is suspended or was deleted. */
export async function issueEditorToken(
  { storage, now }: Pick<ServiceContext, 'storage' | 'now'>,
  editorToken: EditorToken,
  { lifetime, stamp, writeEntry }: IssueOptions,
): Promise<IssuedToken> {
  const { scope, permissions, actor } = editorToken;
  const token = createToken('editor');
  const add = (db: Db) => addEditorToken(db, token, editorToken, now(), now() + lifetime * 1000);
  const addToken = () =>
    writeEntry
      ? storage.transaction(async (db) => {
          const isAdded = await add(db);
          if (isAdded) await writeEntry(db);
          return isAdded;
        })
      : add(storage.db);
  if (!(await addToken())) {
    // Most tenants exist and are active, so that the reason is looked up only after the token could not be added.
    await storage.transaction(async (db) => {
      const { environment, tenant } = scope;
      const isNew = await addFirstTenant(db, scope, now(), stamp.by.actor);
      if (isNew)
        await writeAudit(db, { ...stamp, action: 'tenant.created', target: { environment, tenant } });
    });
    if (!(await addToken()))
      throw (await findTenant(storage.db, scope)) ? tenantSuspended() : tenantDeleted();
  }
  return { token, expires_in: lifetime, permissions, ...(actor !== undefined && { actor }) };
}

/** The stamp of a token that is made for an actor: on whose behalf the back end asks, unless it names somebody else. */
export const stampFor = (stamp: AuditStamp, actor: string | undefined): AuditStamp =>
  actor === undefined || stamp.by.actor !== undefined ? stamp : { ...stamp, by: { ...stamp.by, actor } };
