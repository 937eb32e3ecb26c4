import { createHash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';
import type { Programs } from './programs.ts';

/** What a build depends on: the language and the text, not the tests. */
export const digestOf = ({ lang, contents }: PluginSource): string =>
  createHash('sha256')
    .update(JSON.stringify([lang, contents]))
    .digest('base64url');

const keyOf = ({ environment, tenant, namespace, pluginName }: PluginKey) =>
  [environment, tenant, namespace, pluginName] as const;

/** The last successful build of each draft. */
export class BuiltPrograms {
  readonly #programs: Programs;
  readonly #save: StatementSync;
  readonly #find: StatementSync;
  readonly #findAny: StatementSync;
  readonly #findCurrent: StatementSync;

  constructor(db: DatabaseSync, programs: Programs) {
    this.#programs = programs;
    this.#save = db.prepare(
      `INSERT INTO builds (environment, tenant, namespace, plugin, digest, program_hash, built_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (environment, tenant, namespace, plugin)
       DO UPDATE SET digest = ?5, program_hash = ?6, built_at = ?7`,
    );
    const hashes = `SELECT program_hash FROM builds
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?`;
    this.#findAny = db.prepare(hashes);
    this.#find = db.prepare(`${hashes} AND digest = ?`);
    this.#findCurrent = db.prepare(
      `SELECT program_hash FROM builds JOIN drafts USING (environment, tenant, namespace, plugin, digest)
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?`,
    );
  }

  /**
   * Remembers what a source was built to, in the place of what was built before, which is removed unless something else
   * refers to it. Runs inside the caller's transaction.
   */
  save(plugin: PluginKey, source: PluginSource, program: Program, now: number): void {
    const before = this.#findAny.get(...keyOf(plugin))?.['program_hash'];
    const hash = this.#programs.add(program);
    this.#save.run(...keyOf(plugin), digestOf(source), hash, now);
    if (typeof before === 'string') this.#programs.removeUnused(before);
  }

  /** What this very source was built to; `undefined` when the last successful build was of another. */
  find(plugin: PluginKey, source: PluginSource): StoredProgram | undefined {
    const hash = this.#find.get(...keyOf(plugin), digestOf(source))?.['program_hash'];
    return typeof hash === 'string' ? this.#programs.reference(hash) : undefined;
  }

  /** What the draft as it is was built to; `undefined` when its last successful build was of another text. */
  findCurrent(plugin: PluginKey): StoredProgram | undefined {
    const hash = this.#findCurrent.get(...keyOf(plugin))?.['program_hash'];
    return typeof hash === 'string' ? this.#programs.reference(hash) : undefined;
  }
}
