import type { PluginKey } from '../plugins/plugin-key.ts';
import type { PluginSource } from '../plugins/records.ts';
import type { Draft, WriteStamp } from '../storage/tables/drafts.ts';
import type { ServiceContext } from './context.ts';
import { endedEditorToken, ServiceError } from './errors.ts';

/*
 * Saves of drafts. Saving the first draft of a plugin creates the plugin: it throws 403 where the tenant already has as many
 * plugins as it may have, and 401 where the tenant was deleted since the request was authorized.
 */

/** Saves a draft, whatever it was before, and returns it as saved. `actor`: the vendor's id for the person who saves it. */
export async function overwriteDraft(
  context: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
  actor?: string,
): Promise<Draft> {
  const writing = { now: context.now(), actor };
  const saved = await context.storage.tables.drafts.overwrite(plugin, source, writing);
  return saved ?? createPlugin(context, plugin, () => source, writing);
}

/** Makes the new source of a draft. It may be called several times for one save; see `update` of the drafts. */
type DraftChange = (current: Draft | undefined) => PluginSource;

/**
 * Saves what `change` makes of the current draft, and returns it as saved. `actor`: the vendor's id for the person who saves it.
 */
export async function updateDraft(
  context: ServiceContext,
  plugin: PluginKey,
  change: DraftChange,
  actor?: string,
): Promise<Draft> {
  const writing = { now: context.now(), actor };
  const saved = await context.storage.tables.drafts.update(plugin, writing, change);
  return saved ?? createPlugin(context, plugin, change, writing);
}

function createPlugin(
  { storage, tenantPlugins }: ServiceContext,
  plugin: PluginKey,
  change: DraftChange,
  writing: WriteStamp,
): Promise<Draft> {
  return storage.transaction(async ({ drafts, tenants, lockTenant }) => {
    // Locked before its plugins are counted, because other requests may be about to add some.
    await lockTenant(plugin);
    const existing = await drafts.update(plugin, writing, change);
    if (existing) return existing;
    const source = change(undefined);
    const tenant = await tenants.find(plugin);
    if (!tenant) throw endedEditorToken();
    const max = tenant.limits.plugins ?? tenantPlugins;
    if (max !== undefined && (await tenants.countPlugins(plugin, max)) >= max) throw tooManyPlugins(max);
    const created = await drafts.create(plugin, source, writing);
    if (!created) throw endedEditorToken();
    return created;
  });
}

const tooManyPlugins = (max: number) =>
  new ServiceError(403, 'too-many-plugins', `This tenant already has ${max} plugins, which is its limit.`);
