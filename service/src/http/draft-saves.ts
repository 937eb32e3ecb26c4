import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { PluginSource } from '../plugins/records.ts';
import { createDraft, overwriteDraft, readDraftState } from '../storage/tables/drafts.ts';
import type { Draft, DraftState, DraftWrite } from '../storage/tables/drafts.ts';
import type { EditorCaller } from './auth.ts';
import type { ServiceContext } from './context.ts';
import { allowedStorageOf } from './environment/tenant-details.ts';
import { endedEditorToken, ServiceError } from './errors.ts';
import { hasEditorToken } from '../storage/tables/editor-tokens.ts';
import { countPlugins, findTenant } from '../storage/tables/tenants.ts';
import { writeWithinQuota } from '../storage/tables/tenant-storage.ts';
import { lockTenant } from '../storage/db.ts';

/*
 * Saves of drafts. The first draft of a plugin creates the plugin. That throws 403 where the tenant already has as many plugins as it
 * may have. It throws 401 where the tenant was deleted, or the token was ended, since the request was authorized: a token ends with
 * the plugin that it is for. A save that adds to what the tenant stores throws 403 where the tenant stores as much as it may.
 */

/** The token that a draft is saved with. */
type Saver = Pick<EditorCaller, 'actor' | 'tokenHash'>;

/** Saves a draft, whatever it was before, and returns it as saved. */
export async function saveDraft(
  context: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
  saver: Saver,
): Promise<Draft> {
  const { storage } = context;
  const writing = await writeBy(context, plugin, saver);
  for (;;) {
    const saved =
      (await storage.inTurn(plugin, () => overwriteDraft(storage.db, plugin, source, writing))) ??
      (await createPlugin(context, plugin, source, writing, saver));
    if (saved) return saved;
  }
}

/**
 * Saves what `next` makes of the current draft, and returns it as saved. When another save comes between, `next` is called again.
 * It prevents the save by throwing.
 */
export async function updateDraft(
  context: ServiceContext,
  plugin: PluginKey,
  next: (current: DraftState | undefined) => PluginSource | Promise<PluginSource>,
  saver: Saver,
): Promise<Draft> {
  const { storage } = context;
  const { db } = storage;
  const writing = await writeBy(context, plugin, saver);
  for (;;) {
    const current = await readDraftState(db, plugin);
    const source = await next(current);
    const saved = current
      ? await storage.inTurn(plugin, () => overwriteDraft(db, plugin, source, writing, current))
      : await createPlugin(context, plugin, source, writing, saver);
    if (saved) return saved;
  }
}

async function writeBy(context: ServiceContext, tenant: TenantKey, { actor }: Saver): Promise<DraftWrite> {
  return { now: context.now(), actor, allowed: await allowedStorageOf(context, tenant) };
}

/** Creates a plugin with its first draft; `undefined` when it is there already. */
function createPlugin(
  { storage, tenantPlugins }: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
  writing: DraftWrite,
  { tokenHash }: Saver,
): Promise<Draft | undefined> {
  return storage.transaction(async (db) => {
    // Locked before its plugins are counted, because other requests may be about to add some.
    await lockTenant(db, plugin);
    if (await readDraftState(db, plugin)) return undefined;
    const tenant = await findTenant(db, plugin);
    if (!tenant || !(await hasEditorToken(db, tenant.id, tokenHash))) throw endedEditorToken();
    const max = tenant.limits.plugins ?? tenantPlugins;
    if (max !== undefined && (await countPlugins(db, plugin, max)) >= max) throw tooManyPlugins(max);
    const created = await writeWithinQuota(db, plugin, writing.allowed, () =>
      createDraft(db, plugin, source, writing),
    );
    if (!created) throw endedEditorToken();
    return created;
  }, plugin);
}

const tooManyPlugins = (max: number) =>
  new ServiceError(403, 'too-many-plugins', `This tenant already has ${max} plugins, which is its limit.`);
