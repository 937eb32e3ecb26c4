import type { PluginKey } from '../plugins/plugin-key.ts';
import type { PluginSource } from '../plugins/records.ts';
import type { Draft, Writing } from '../storage/tables/drafts.ts';
import type { ServiceContext } from './context.ts';
import { endedEditorToken, ServiceError } from './errors.ts';

/*
 * Saves of drafts. The first draft of a plugin makes the plugin, and throws 403 where its tenant has as many as it may have.
 * Throws 401 where the tenant was deleted since the request was let through.
 */

/** Saves a draft, whatever it was before, and returns it as saved. `actor`: in whose name. */
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

/** What a draft becomes; it may be asked several times. See `update` of the drafts. */
type DraftChange = (current: Draft | undefined) => PluginSource;

/** Saves what `change` makes of the draft as it is, and returns it as saved. `actor`: in whose name. */
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
  writing: Writing,
): Promise<Draft> {
  return storage.transaction(async ({ drafts, tenants, lockTenant }) => {
    // Before its plugins are counted, which others may be about to add to.
    await lockTenant(plugin);
    const existing = await drafts.update(plugin, writing, change);
    if (existing) return existing;
    const source = change(undefined);
    const tenant = await tenants.find(plugin);
    if (!tenant) throw endedEditorToken();
    const most = tenant.limits.plugins ?? tenantPlugins;
    if (most !== undefined && (await tenants.countPlugins(plugin, most)) >= most) throw tooManyPlugins(most);
    const created = await drafts.create(plugin, source, writing);
    if (!created) throw endedEditorToken();
    return created;
  });
}

const tooManyPlugins = (most: number) =>
  new ServiceError(
    403,
    'too-many-plugins',
    `This tenant may have ${most} plugins and has them all; no other can be made.`,
  );
