import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PluginKey } from '../plugin-key.ts';
import type { PluginSource } from '../records.ts';
import type { Program } from '../sandbox/program.ts';

/** What a build depends on: the language and the text, not the tests. */
export const digestOf = ({ lang, contents }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents]))
    .digest('base64url');

const keyOf = ({ environment, tenant, namespace, pluginName }: PluginKey) =>
  [environment, tenant, namespace, pluginName] as const;

/** The last successful build of each draft. */
export class BuiltPrograms {
  readonly #save: StatementSync;
  readonly #find: StatementSync;

  constructor(db: DatabaseSync) {
    this.#save = db.prepare(
      `INSERT INTO builds (environment, tenant, namespace, plugin, digest, program, built_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (environment, tenant, namespace, plugin)
       DO UPDATE SET digest = ?5, program = ?6, built_at = ?7`,
    );
    this.#find = db.prepare(
      `SELECT program FROM builds
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ? AND digest = ?`,
    );
  }

  /** Remembers what a source was built to, in the place of what was built before. */
  save(plugin: PluginKey, source: PluginSource, program: Program, now: number): void {
    this.#save.run(...keyOf(plugin), digestOf(source), JSON.stringify(program), now);
  }

  /** What this very source was built to; `undefined` when the last successful build was of another. */
  find(plugin: PluginKey, source: PluginSource): Program | undefined {
    const program = this.#find.get(...keyOf(plugin), digestOf(source))?.['program'];
    return typeof program === 'string' ? (JSON.parse(program) as Program) : undefined;
  }
}
