import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { StoredVersion } from '../plugins/program.ts';
import { hashToken } from '../accounts/tokens.ts';
import { ChangeCache } from './changes/change-cache.ts';
import type { CachePolicy } from './changes/change-cache.ts';
import type { Change } from './changes/change-log.ts';
import type { Db } from './db.ts';
import { findEnvironmentToken } from './tables/environments.ts';
import type { EnvironmentToken } from './tables/environments.ts';
import { pluginCacheKey, pluginKeysOfTenant, tenantCacheKey } from './tables/names.ts';
import { findTenant } from './tables/tenants.ts';
import type { Tenant } from './tables/tenants.ts';
import { findLiveVersion, findVersion } from './tables/versions.ts';
import type { LiveVersion } from './tables/versions.ts';

/** How many entries each of the four caches has: tokens, tenants, versions and live versions. */
const maxEntries = 10_000;

/**
 * Looks up what a run depends on, and caches it, so that most runs read nothing from the database. On the node where a change
 * was made the caches are current at once, and on every other node within a second.
 *
 * While the database is unavailable, cached tokens, tenants, versions and pins stay usable for a while. A newest
 * version does not, because another node may have deployed a newer one.
 */
export class RunLookup {
  readonly #db: Db;
  /** Environment tokens, by their hash. */
  readonly #tokens: ChangeCache<EnvironmentToken>;
  readonly #tenants: ChangeCache<Tenant>;
  readonly #live: ChangeCache<LiveVersion>;
  // A version never changes, but it can be deleted with its plugin.
  readonly #versions: ChangeCache<StoredVersion>;

  /** `policy`: its `isCurrent` is true while every change that is older than a second was {@link handleChanges handled}. */
  constructor(db: Db, policy: CachePolicy) {
    this.#db = db;
    this.#tokens = new ChangeCache(policy, maxEntries);
    this.#tenants = new ChangeCache(policy, maxEntries);
    this.#versions = new ChangeCache(policy, maxEntries);
    // Without the database it is unknown whether there is a newer version, but a pinned version stays live.
    this.#live = new ChangeCache(policy, maxEntries, ({ isPinned }) => isPinned);
  }

  /** Finds a valid environment token; `undefined` when it is unknown or has ended. */
  async environmentToken(token: string, now: number): Promise<EnvironmentToken | undefined> {
    const key = Buffer.from(hashToken(token)).toString('base64url');
    const found = await this.#tokens.get(key, () => findEnvironmentToken(this.#db, token, now));
    // Replacing a token is a change, by which every node learns when it ends. Its end itself is not, so the time is checked here.
    return found?.endsAt !== undefined && found.endsAt <= now ? undefined : found;
  }

  /** A tenant; `undefined` when it is not there or was deleted. */
  tenant(key: TenantKey): Promise<Tenant | undefined> {
    return this.#tenants.get(tenantCacheKey(key), () => findTenant(this.#db, key));
  }

  /** Finds the program of a version; `undefined` when there is no such version. */
  version(plugin: PluginKey, version: string): Promise<StoredVersion | undefined> {
    return this.#versions.get(`${pluginCacheKey(plugin)} ${version}`, () =>
      findVersion(this.#db, plugin, version),
    );
  }

  /** Finds the program of the live version; `undefined` when nothing was deployed yet. */
  liveVersion(plugin: PluginKey): Promise<LiveVersion | undefined> {
    return this.#live.get(pluginCacheKey(plugin), () => findLiveVersion(this.#db, plugin));
  }

  /** Removes what has changed from the caches. `undefined`: anything may have changed. */
  handleChanges(changes: readonly Change[] | undefined): void {
    if (!changes) {
      // The database may be one that was restored from a backup.
      for (const cache of [this.#tokens, this.#tenants, this.#versions, this.#live]) cache.invalidate();
      return;
    }
    const keysOf = (...kinds: Change['kind'][]) =>
      new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ key }) => key));
    const environments = keysOf('environment-tokens');
    if (environments.size) this.#tokens.invalidate((_, { environment }) => environments.has(environment));
    const tenants = keysOf('tenant');
    if (tenants.size) this.#tenants.invalidate((tenant) => tenants.has(tenant));
    const live = keysOf('live-version', 'plugin');
    if (live.size) this.#live.invalidate((plugin) => live.has(plugin));
    const stale = [...keysOf('plugin'), ...[...tenants].map(pluginKeysOfTenant)];
    if (!stale.length) return;
    // A version's key begins with its plugin's, which ends in a bracket, so that no other plugin's begins with it.
    const isStale = (key: string) => stale.some((start) => key.startsWith(start));
    this.#live.invalidate(isStale);
    this.#versions.invalidate(isStale);
  }
}
