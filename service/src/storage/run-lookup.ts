import { LRUCache } from 'lru-cache';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredVersion } from '../plugins/program.ts';
import { hashToken } from '../accounts/tokens.ts';
import { ChangeCache } from './changes/change-cache.ts';
import type { Change } from './changes/change-log.ts';
import type { Tables } from './tables.ts';
import type { EnvironmentToken } from './tables/environments.ts';
import { pluginCacheKey } from './tables/plugin-columns.ts';

/** How many tokens, versions and plugins a node knows by heart. */
const mostKnown = 10_000;

/**
 * What a run needs to know. Each answer is remembered, so that a run of a version that this node knows asks the database
 * nothing. It is as new as the last second on every node, and at once so on the node where a change was made.
 */
export class RunLookup {
  readonly #tables: Tables;
  /** By the hash of the token. */
  readonly #tokens: ChangeCache<EnvironmentToken>;
  readonly #newest: ChangeCache<StoredVersion>;
  // A version never changes, so what was found once holds for ever.
  readonly #versions = new LRUCache<string, StoredVersion>({ max: mostKnown });

  /** `isCurrent`: whether every change that was committed a second ago has been {@link handleChanges handled}. */
  constructor(tables: Tables, isCurrent: () => boolean) {
    this.#tables = tables;
    this.#tokens = new ChangeCache(isCurrent, mostKnown);
    this.#newest = new ChangeCache(isCurrent, mostKnown);
  }

  /** What an environment token is for; `undefined` when it is unknown or has ended. */
  async environmentToken(token: string, now: number): Promise<EnvironmentToken | undefined> {
    const key = Buffer.from(hashToken(token)).toString('base64url');
    const found = await this.#tokens.get(key, () => this.#tables.environments.findToken(token, now));
    // That it will end was a change that every node has read; that the time has come is none.
    return found?.endsAt !== undefined && found.endsAt <= now ? undefined : found;
  }

  /** What a version runs; `undefined` when there is no such version. */
  async version(plugin: PluginKey, version: string): Promise<StoredVersion | undefined> {
    const key = `${version} ${pluginCacheKey(plugin)}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const found = await this.#tables.versions.find(plugin, version);
    if (found) this.#versions.set(key, found);
    return found;
  }

  /** What the newest version runs; `undefined` when nothing was deployed yet. */
  newestVersion(plugin: PluginKey): Promise<StoredVersion | undefined> {
    return this.#newest.get(pluginCacheKey(plugin), () => this.#tables.versions.newest(plugin));
  }

  /** Forgets what has changed; `undefined` for all that can change. */
  handleChanges(changes: readonly Change[] | undefined): void {
    if (!changes) {
      this.#tokens.invalidate();
      this.#newest.invalidate();
      return;
    }
    const keysOf = (kind: Change['kind']) =>
      new Set(changes.filter((change) => change.kind === kind).map(({ key }) => key));
    const environments = keysOf('environment-tokens');
    if (environments.size) this.#tokens.invalidate((_, { environment }) => environments.has(environment));
    const plugins = keysOf('newest-version');
    if (plugins.size) this.#newest.invalidate((plugin) => plugins.has(plugin));
  }
}
