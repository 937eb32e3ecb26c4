import type { Connection } from '../plugins/connections.ts';
import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { StoredVersion } from '../plugins/program.ts';
import { hashToken } from '../tokens.ts';
import { ChangeCache } from './changes/change-cache.ts';
import type { CachePolicy } from './changes/change-cache.ts';
import type { Change } from './changes/change-log.ts';
import type { Db } from './db.ts';
import { findEnvironmentToken } from './tables/environments.ts';
import type { EnvironmentToken } from './tables/environments.ts';
import { findConnectionValues } from './tables/connection-values.ts';
import type { ConnectionValues } from './tables/connection-values.ts';
import { namespaceCacheKey, pluginCacheKey, pluginKeysOfTenant, tenantCacheKey } from './tables/names.ts';
import { findNamespace } from './tables/namespaces.ts';
import type { NamespaceKey } from './tables/namespaces.ts';
import { findTenant } from './tables/tenants.ts';
import type { Tenant } from './tables/tenants.ts';
import { findLiveVersion, findVersion } from './tables/versions.ts';
import type { LiveVersion } from './tables/versions.ts';

/** How many entries each of the caches has. */
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
  /** What the plugins of namespaces may reach. */
  readonly #connections: ChangeCache<readonly Connection[]>;
  /** The values for that, with the keys of their namespaces and tenants. */
  readonly #values: ChangeCache<KeyedValues>;
  readonly #listeners = new Set<ConnectionsListener>();
  readonly #tenantListeners = new Set<TenantsListener>();
  // A version never changes, but it can be deleted with its plugin.
  readonly #versions: ChangeCache<StoredVersion>;

  /** `policy`: its `isCurrent` is true while every change that is older than a second was {@link handleChanges handled}. */
  constructor(db: Db, policy: CachePolicy) {
    this.#db = db;
    this.#tokens = new ChangeCache(policy, maxEntries);
    this.#tenants = new ChangeCache(policy, maxEntries);
    this.#versions = new ChangeCache(policy, maxEntries);
    this.#connections = new ChangeCache(policy, maxEntries);
    this.#values = new ChangeCache(policy, maxEntries);
    // Without the database it is unknown whether there is a newer version, but a pinned version stays live.
    this.#live = new ChangeCache(policy, maxEntries, ({ isPinned }) => isPinned);
  }

  /**
   * Finds a valid environment token; `undefined` when it is unknown or has ended.
   * @param hash that of the token, where it is known
   */
  async environmentToken(
    token: string,
    now: number,
    hash: Uint8Array = hashToken(token),
  ): Promise<EnvironmentToken | undefined> {
    const key = Buffer.from(hash).toString('base64url');
    const found = await this.#tokens.get(key, () => findEnvironmentToken(this.#db, token, now));
    // Replacing a token is a change, by which every node learns when it ends. Its end itself is not, so the time is checked here.
    return found?.endsAt !== undefined && found.endsAt <= now ? undefined : found;
  }

  /** A tenant; `undefined` when it is not there or was deleted. */
  tenant(key: TenantKey): Promise<Tenant | undefined> {
    return this.#tenants.get(tenantCacheKey(key), () => findTenant(this.#db, key));
  }

  /**
   * The same once more at the turn of a run, which holds a place meanwhile: the database is read only where the tenant has changed since,
   * or is not known any longer.
   */
  async tenantAtTurn(key: TenantKey): Promise<Tenant | undefined> {
    return this.#tenants.peek(tenantCacheKey(key)) ?? this.tenant(key);
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

  /** What the plugins of a namespace may reach; empty where there is nothing. */
  async connections(key: NamespaceKey): Promise<readonly Connection[]> {
    const found = await this.#connections.get(namespaceCacheKey(key), async () => {
      const record = await findNamespace(this.#db, key);
      return record?.details.connections ?? [];
    });
    return found ?? [];
  }

  /** The values that a tenant's plugins have for a connection; `undefined` where the tenant is not there. */
  async connectionValues(
    key: NamespaceKey & TenantKey,
    connection: string,
  ): Promise<ConnectionValues | undefined> {
    const [namespaceKey, tenantKey] = [namespaceCacheKey(key), tenantCacheKey(key)];
    const found = await this.#values.get(`${tenantKey} ${namespaceKey} ${connection}`, async () => {
      const values = await findConnectionValues(this.#db, key, connection);
      return values && { values, namespaceKey, tenantKey };
    });
    return found?.values;
  }

  /**
   * Calls back when what plugins may reach may have changed, once that is known on this node, until the returned function is
   * called.
   */
  onConnectionsChange(listener: ConnectionsListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** As {@link onConnectionsChange}, when tenants may have been changed or deleted. */
  onTenantsChange(listener: TenantsListener): () => void {
    this.#tenantListeners.add(listener);
    return () => this.#tenantListeners.delete(listener);
  }

  /** Removes what has changed from the caches. `undefined`: anything may have changed. */
  handleChanges(changes: readonly Change[] | undefined): void {
    if (!changes) {
      // The database may be one that was restored from a backup.
      const all = [this.#tokens, this.#tenants, this.#versions, this.#live, this.#connections, this.#values];
      for (const cache of all) cache.invalidate();
      for (const listener of this.#listeners) listener(() => true);
      for (const listener of this.#tenantListeners) listener(() => true);
      return;
    }
    const keysOf = (...kinds: Change['kind'][]) =>
      new Set(changes.filter(({ kind }) => kinds.includes(kind)).map(({ key }) => key));
    const environments = keysOf('environment-tokens');
    if (environments.size) this.#tokens.invalidate((_, { environment }) => environments.has(environment));
    const tenants = keysOf('tenant');
    if (tenants.size) this.#tenants.invalidate((tenant) => tenants.has(tenant));
    this.#handleConnections(keysOf('connections'), tenants);
    const live = keysOf('live-version', 'plugin');
    if (live.size) this.#live.invalidate((plugin) => live.has(plugin));
    const stale = [...keysOf('plugin'), ...[...tenants].map(pluginKeysOfTenant)];
    if (!stale.length) return;
    // A version's key begins with its plugin's, which ends in a bracket, so that no other plugin's begins with it.
    const isStale = (key: string) => stale.some((start) => key.startsWith(start));
    this.#live.invalidate(isStale);
    this.#versions.invalidate(isStale);
    if (!tenants.size) return;
    for (const listener of this.#tenantListeners) listener((key) => tenants.has(tenantCacheKey(key)));
  }

  #handleConnections(namespaces: ReadonlySet<string>, tenants: ReadonlySet<string>): void {
    if (namespaces.size || tenants.size) {
      this.#values.invalidate(
        (_, { namespaceKey, tenantKey }) => namespaces.has(namespaceKey) || tenants.has(tenantKey),
      );
    }
    if (!namespaces.size) return;
    this.#connections.invalidate((namespace) => namespaces.has(namespace));
    for (const listener of this.#listeners) listener((key) => namespaces.has(namespaceCacheKey(key)));
  }
}

interface KeyedValues {
  readonly values: ConnectionValues;
  readonly namespaceKey: string;
  readonly tenantKey: string;
}

/** `isAffected` is whether the connections of a namespace, or the values for them, may have changed. */
export type ConnectionsListener = (isAffected: (key: NamespaceKey) => boolean) => void;

/** `isAffected` is whether a tenant may have been changed or deleted. */
export type TenantsListener = (isAffected: (key: TenantKey) => boolean) => void;
