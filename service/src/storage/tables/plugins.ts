import type { Kysely } from 'kysely';
import type { PluginKey, PluginScope } from '../../plugins/plugin-key.ts';
import type { Change } from '../changes/change-log.ts';
import type { Schema } from '../schema.ts';
import type { WriteStamp } from './drafts.ts';
import { pluginCacheKey, pluginId, selectTenant } from './names.ts';
import { findPluginRecord, listPluginRecords } from './plugin-records.ts';
import type { PluginPage, PluginRecord } from './plugin-records.ts';
import { versionPatch } from './versions.ts';

/** A plugin is there from its first draft on. */
export class Plugins {
  protected readonly db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.db = db;
  }

  async exists(plugin: PluginKey): Promise<boolean> {
    return (await pluginId(this.db, plugin).executeTakeFirst()) !== undefined;
  }

  /** What is known of a plugin without its source; `undefined` where it is not there. */
  find(plugin: PluginKey): Promise<PluginRecord | undefined> {
    return findPluginRecord(this.db, plugin);
  }

  /** The plugins of a scope, in the order of the bytes of namespace and name. */
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
   * Makes a plugin and returns its number; `undefined` where its tenant is not there any more. One that was deleted goes on
   * from the version that it had last. The transaction has to have locked the tenant.
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
      // There is no last version of a name that is new.
      .values({ tenant_id: tenant.id, ...names, created_at: now, last_patch: (last as number | null) ?? -1 })
      .returning('id')
      .executeTakeFirstOrThrow();
    // The new row knows the last version now.
    await this.db
      .deleteFrom('plugins')
      .where('tenant_id', '=', tenant.id)
      .where((where) => where.and(names))
      .where('erased_at', 'is not', null)
      .execute();
    return id;
  }

  /**
   * Makes a version live in place of the newest; `undefined` for the newest again. False where there is no such version. The
   * transaction has to have locked the plugin.
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
      .where('id', '=', pluginId(this.db, plugin))
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
   * Deletes a plugin and ends the tokens for it alone: from the commit on, nothing finds what it has, and the eraser takes it
   * away. False where there is none. The transaction has to have locked the plugin, so that no version is made meanwhile.
   */
  async delete(plugin: PluginKey, now: number): Promise<boolean> {
    const row = await this.db
      .updateTable('plugins')
      .set({ deleted_at: now })
      .where('id', '=', pluginId(this.db, plugin))
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
