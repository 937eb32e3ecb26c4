import { LRUCache } from 'lru-cache';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { StoredProgram } from '../plugins/program.ts';
import { hashToken } from '../accounts/tokens.ts';
import { ChangeCache } from './changes/change-cache.ts';
import type { Change } from './changes/change-log.ts';
import type { Tables } from './tables.ts';
import { pluginCacheKey } from './tables/plugin-columns.ts';

/** How many tokens, versions and plugins a node knows by heart. */
const mostKnown = 10_000;

/**
 * What a run needs to know. Each answer is remembered, so that a run of a version that this node knows asks the database
 * nothing. It is as new as the last second on every node, and at once so on the node where a change was made.
 */
export class RunLookup {
  readonly #tables: Tables;
  /** Environments by the hash of their token. */
  readonly #environments: ChangeCache<string>;
  readonly #newest: ChangeCache<StoredProgram>;
  // A version never changes, so what was found once holds for ever.
  readonly #versions = new LRUCache<string, StoredProgram>({ max: mostKnown });

  /** `isCurrent`: whether every change that was committed a second ago has been {@link handleChanges handled}. */
  constructor(tables: Tables, isCurrent: () => boolean) {
    this.#tables = tables;
    this.#environments = new ChangeCache(isCurrent, mostKnown);
    this.#newest = new ChangeCache(isCurrent, mostKnown);
  }

  /** The environment that a token is for; `undefined` when it is unknown. */
  environmentOfToken(token: string): Promise<string | undefined> {
    const key = Buffer.from(hashToken(token)).toString('base64url');
    return this.#environments.get(key, () => this.#tables.environments.findByToken(token));
  }

  /** What a version runs; `undefined` when there is no such version. */
  async version(plugin: PluginKey, version: string): Promise<StoredProgram | undefined> {
    const key = `${version} ${pluginCacheKey(plugin)}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const found = await this.#tables.versions.find(plugin, version);
    if (found) this.#versions.set(key, found);
    return found;
  }

  /** What the newest version runs; `undefined` when nothing was deployed yet. */
  newestVersion(plugin: PluginKey): Promise<StoredProgram | undefined> {
    return this.#newest.get(pluginCacheKey(plugin), () => this.#tables.versions.newest(plugin));
  }

  /** Forgets what has changed; `undefined` for all that can change. */
  handleChanges(changes: readonly Change[] | undefined): void {
    if (!changes) {
      this.#environments.invalidate();
      this.#newest.invalidate();
      return;
    }
    const keysOf = (kind: Change['kind']) =>
      new Set(changes.filter((change) => change.kind === kind).map(({ key }) => key));
    const environments = keysOf('environment-tokens');
    if (environments.size) this.#environments.invalidate((_, environment) => environments.has(environment));
    const plugins = keysOf('newest-version');
    if (plugins.size) this.#newest.invalidate((plugin) => plugins.has(plugin));
  }
}
