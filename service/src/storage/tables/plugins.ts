import type { Kysely } from 'kysely';
import type { PluginKey, PluginScope } from '../../plugins/plugin-key.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, selectPluginId, selectTenant } from './names.ts';
import { findPluginRecord, listPluginRecords } from './plugin-records.ts';
import type { PluginPage, PluginRecord } from './plugin-records.ts';
import { versionPatch } from './versions.ts';

/** Plugins. Saving the first draft of one creates it. */
export class Plugins {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  async exists(plugin: PluginKey): Promise<boolean> {
    return (await selectPluginId(this.db, plugin).executeTakeFirst()) !== undefined;
  }

  /** Finds a plugin, without its source; `undefined` when it does not exist. */
  find(plugin: PluginKey): Promise<PluginRecord | undefined> {
    return findPluginRecord(this.db, plugin);
  }

  /** Lists the plugins of a scope, in the byte order of namespace and name. */
  list(scope: PluginScope, page: PluginPage): Promise<PluginRecord[]> {
    return listPluginRecords(this.db, scope, page);
  }
}

export class PluginsInTransaction extends Plugins {
  readonly #recordChange: (change: Change) => void;

  constructor(db: Kysely<Schema>, recordChange: (change: Change) => void) {
    super(db);
    this.#recordChange = recordChange;
  }

  /**
   * Creates a plugin and returns its id; `undefined` when its tenant no longer exists. Where a plugin of this name was deleted
   * before, the versions are numbered on from its last one. The transaction must have locked the tenant.
   */
  async create(plugin: PluginKey, now: number): Promise<number | undefined> {
    const tenant = await selectTenant(this.db, plugin).select('tenants.id').executeTakeFirst();
    if (!tenant) return undefined;
    const names = { namespace: plugin.namespace, name: plugin.pluginName };
    const { last } = await this.db
      .selectFrom('plugins')
      .select(({ fn }) => fn.max('last_patch').as('last'))
      .where('tenant_id', '=', tenant.id)
      .where((where) => where.and(names))
      .executeTakeFirstOrThrow();
    const { id } = await this.db
      .insertInto('plugins')
      // A new name has no last version.
      .values({ tenant_id: tenant.id, ...names, created_at: now, last_patch: (last as number | null) ?? -1 })
      .returning('id')
      .executeTakeFirstOrThrow();
    // Rows of erased plugins were only kept for the number of the last version, which is in the new row now.
    await this.db
      .deleteFrom('plugins')
      .where('tenant_id', '=', tenant.id)
      .where((where) => where.and(names))
      .where('erased_at', 'is not', null)
      .execute();
    return id;
  }

  /**
   * Pins a version, so that it is live instead of the newest; `undefined` removes the pin. Resolves with false when there is no
   * such version. The transaction must have locked the plugin.
   */
  async pin(plugin: PluginKey, version: string | undefined, { now, actor }: WriteStamp): Promise<boolean> {
    const patch = version === undefined ? undefined : versionPatch(version);
    if (version !== undefined && patch === undefined) return false;
    const columns =
      patch === undefined
        ? { pinned_patch: null, pinned_at: null, pinned_by: null }
        : { pinned_patch: patch, pinned_at: now, pinned_by: actor ?? null };
    const row = await this.db
      .updateTable('plugins')
      .set(columns)
      .where('id', '=', selectPluginId(this.db, plugin))
      .$if(patch !== undefined, (query) =>
        query.where((where) =>
          where.exists(
            where
              .selectFrom('versions')
              .select('versions.patch')
              .whereRef('versions.plugin_id', '=', 'plugins.id')
              .where('versions.patch', '=', patch ?? -1),
          ),
        ),
      )
      .returning('id')
      .executeTakeFirst();
    if (!row) return false;
    this.#recordChange({ kind: 'live-version', key: pluginCacheKey(plugin) });
    return true;
  }

  /**
   * Deletes a plugin, and the tokens that are for it alone. From the commit on its rows cannot be found, and the eraser deletes
   * them. Resolves with false when there is no such plugin. The transaction must have locked the plugin, so that no version is
   * added.
   */
  async delete(plugin: PluginKey, now: number): Promise<boolean> {
    const row = await this.db
      .updateTable('plugins')
      .set({ deleted_at: now })
      .where('id', '=', selectPluginId(this.db, plugin))
      .returning('tenant_id')
      .executeTakeFirst();
    if (!row) return false;
    await this.db
      .deleteFrom('editor_tokens')
      .where('tenant_id', '=', row.tenant_id)
      .where('namespace', '=', plugin.namespace)
      .where('plugin_name', '=', plugin.pluginName)
      .execute();
    this.#recordChange({ kind: 'plugin', key: pluginCacheKey(plugin) });
    return true;
  }
}
