import type { PluginKey } from '../plugins/plugin-key.ts';
import type { TransactionTables } from '../storage/tables.ts';
import { ServiceError } from './errors.ts';

/**
 * To be called within the transaction that makes a plugin's first draft, once the plugin is locked. Throws 403 where the
 * tenant has as many plugins as it may have.
 * @param most `undefined` for any number
 */
export async function checkPluginQuota(
  { drafts, lockTenant }: TransactionTables,
  plugin: PluginKey,
  most: number | undefined,
): Promise<void> {
  if (most === undefined) return;
  // Before its plugins are counted, which others may be about to add to.
  await lockTenant(plugin);
  if ((await drafts.countOfTenant(plugin, most)) < most) return;
  throw new ServiceError(
    403,
    'too-many-plugins',
    `This tenant may have ${most} plugins and has them all; no other can be made.`,
  );
}
