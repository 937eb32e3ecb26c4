import type { PluginKey } from '../plugins/plugin-key.ts';
import type { PluginSource } from '../plugins/records.ts';
import type { Draft } from '../storage/tables/drafts.ts';
import type { ServiceContext } from './context.ts';
import { ServiceError } from './errors.ts';

/*
 * Saves of drafts. The first draft of a plugin makes the plugin, and throws 403 where its tenant has as many as it may have.
 */

/** Saves a draft, whatever it was before, and returns it as saved. */
export async function overwriteDraft(
  context: ServiceContext,
  plugin: PluginKey,
  source: PluginSource,
): Promise<Draft> {
  const saved = await context.storage.tables.drafts.overwrite(plugin, source, context.now());
  return saved ?? createPlugin(context, plugin, () => source);
}

/** What a draft becomes; it may be asked several times. See `update` of the drafts. */
type DraftChange = (current: Draft | undefined) => PluginSource;

/** Saves what `change` makes of the draft as it is, and returns it as saved. */
export async function updateDraft(
  context: ServiceContext,
  plugin: PluginKey,
  change: DraftChange,
): Promise<Draft> {
  try {
    return await context.storage.tables.drafts.update(plugin, context.now(), (current) => {
      const changed = change(current);
      if (!current) throw new NoDraftError();
      return changed;
    });
  } catch (error) {
    if (!(error instanceof NoDraftError)) throw error;
  }
  return createPlugin(context, plugin, change);
}

/** Ends an update that would make a plugin. */
class NoDraftError extends Error {
  override readonly name = 'NoDraftError';
}

function createPlugin(
  { storage, tenantPlugins, now }: ServiceContext,
  plugin: PluginKey,
  change: DraftChange,
): Promise<Draft> {
  return storage.transaction(async ({ drafts, lockTenant }) => {
    // Before its plugins are counted, which others may be about to add to.
    await lockTenant(plugin);
    const isNew = !(await drafts.exists(plugin));
    if (isNew && tenantPlugins !== undefined) {
      const count = await drafts.countOfTenant(plugin, tenantPlugins);
      if (count >= tenantPlugins) throw tooManyPlugins(tenantPlugins);
    }
    return drafts.update(plugin, now(), change);
  });
}

const tooManyPlugins = (most: number) =>
  new ServiceError(
    403,
    'too-many-plugins',
    `This tenant may have ${most} plugins and has them all; no other can be made.`,
  );
