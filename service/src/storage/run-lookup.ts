import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { StoredVersion } from '../plugins/program.ts';
import { hashToken } from '../accounts/tokens.ts';
import { ChangeCache } from './changes/change-cache.ts';
import type { CachePolicy } from './changes/change-cache.ts';
import type { Change } from './changes/change-log.ts';
import type { Tables } from './tables.ts';
import type { EnvironmentToken } from './tables/environments.ts';
import { pluginCacheKey, pluginKeysOfTenant, tenantCacheKey } from './tables/names.ts';
import type { Tenant } from './tables/tenants.ts';
import type { LiveVersion } from './tables/versions.ts';

/** How many tokens, tenants, versions and plugins a node knows by heart. */
const maxEntries = 10_000;

/**
 * What a run needs to know. Each answer is remembered, so that a run of a version that this node knows asks the database
 * nothing. It is as new as the last second on every node, and at once so on the node where a change was made.
 *
 * While the database is away, tokens, tenants, versions and what was made live go on to be good for a while, where they are known.
 * That a version is the newest does not: another node may have deployed a newer one.
 */
export class RunLookup {
  readonly #tables: Tables;
  /** By the hash of the token. */
  readonly #tokens: ChangeCache<EnvironmentToken>;
  readonly #tenants: ChangeCache<Tenant>;
  readonly #live: ChangeCache<LiveVersion>;
  // A version never changes, but it can be deleted.
  readonly #versions: ChangeCache<StoredVersion>;

  /** `trust`: `isCurrent` is whether every change that was committed a second ago has been {@link handleChanges handled}. */
  constructor(tables: Tables, trust: CachePolicy) {
    this.#tables = tables;
    this.#tokens = new ChangeCache(trust, maxEntries);
    this.#tenants = new ChangeCache(trust, maxEntries);
    this.#versions = new ChangeCache(trust, maxEntries);
    // Without the database nobody knows whether there is a newer version. One that was made live stays so.
    this.#live = new ChangeCache(trust, maxEntries, ({ isPinned }) => isPinned);
  }

  /** What an environment token is for; `undefined` when it is unknown or has ended. */
  async environmentToken(token: string, now: number): Promise<EnvironmentToken | undefined> {
    const key = Buffer.from(hashToken(token)).toString('base64url');
    const found = await this.#tokens.get(key, () => this.#tables.environments.findToken(token, now));
    // That it will end was a change that every node has read; that the time has come is none.
    return found?.endsAt !== undefined && found.endsAt <= now ? undefined : found;
  }

  /** A tenant; `undefined` when it is not there or was deleted. */
  tenant(key: TenantKey): Promise<Tenant | undefined> {
    return this.#tenants.get(tenantCacheKey(key), () => this.#tables.tenants.find(key));
  }

  /** What a version runs; `undefined` when there is no such version. */
  version(plugin: PluginKey, version: string): Promise<StoredVersion | undefined> {
    return this.#versions.get(`${pluginCacheKey(plugin)} ${version}`, () =>
      this.#tables.versions.find(plugin, version),
    );
  }

  /** What the live version runs; `undefined` when nothing was deployed yet. */
  liveVersion(plugin: PluginKey): Promise<LiveVersion | undefined> {
    return this.#live.get(pluginCacheKey(plugin), () => this.#tables.versions.live(plugin));
  }

  /** Forgets what has changed; `undefined` for all that can change. */
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
