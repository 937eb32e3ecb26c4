import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import type { StoredProgram } from '../../plugins/program.ts';
import type { Programs } from './programs.ts';

const keyOf = ({ environment, tenant, namespace, pluginName }: PluginKey) =>
  [environment, tenant, namespace, pluginName] as const;

const nameOf = (patch: number) => `v1.0.${patch}`;

/** The deployed versions of plugins. No operation changes one, and the database itself refuses to. */
export class Versions {
  readonly #programs: Programs;
  readonly #add: StatementSync;
  readonly #find: StatementSync;
  readonly #newest: StatementSync;
  readonly #newestSource: StatementSync;
  // A version never changes, so what was found once need not be asked for again.
  readonly #found = new LRUCache<string, StoredProgram>({ max: 10_000 });

  constructor(db: DatabaseSync, programs: Programs) {
    this.#programs = programs;
    this.#add = db.prepare(
      `INSERT INTO versions (environment, tenant, namespace, plugin, patch, record, program_hash, created_at)
       SELECT ?1, ?2, ?3, ?4, COALESCE(MAX(patch) + 1, 0), ?5, ?6, ?7 FROM versions
       WHERE environment = ?1 AND tenant = ?2 AND namespace = ?3 AND plugin = ?4
       RETURNING patch`,
    );
    const hashes = `SELECT program_hash FROM versions
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?`;
    this.#find = db.prepare(`${hashes} AND patch = ?`);
    this.#newest = db.prepare(`${hashes} ORDER BY patch DESC LIMIT 1`);
    this.#newestSource = db.prepare(
      `SELECT patch, record FROM versions
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ? ORDER BY patch DESC LIMIT 1`,
    );
  }

  /** Adds the next version: `v1.0.0`, `v1.0.1`, … Returns its name. */
  add(plugin: PluginKey, source: PluginSource, { hash }: StoredProgram, now: number): string {
    const row = this.#add.get(...keyOf(plugin), JSON.stringify(source), hash, now);
    return nameOf(Number(row?.['patch']));
  }

  /** What a version runs; `undefined` when there is no such version. */
  find(plugin: PluginKey, version: string): StoredProgram | undefined {
    const key = JSON.stringify([...keyOf(plugin), version]);
    const known = this.#found.get(key);
    if (known) return known;
    const patch = Number(/^v1\.0\.(0|[1-9]\d{0,14})$/.exec(version)?.[1] ?? -1);
    const found = this.#referenceOf(this.#find.get(...keyOf(plugin), patch));
    if (found) this.#found.set(key, found);
    return found;
  }

  /** What the newest version runs; `undefined` when nothing was deployed yet. */
  newest(plugin: PluginKey): StoredProgram | undefined {
    return this.#referenceOf(this.#newest.get(...keyOf(plugin)));
  }

  /** The newest version's name and the draft that it was made of. */
  newestSource(plugin: PluginKey): { version: string; source: PluginSource } | undefined {
    const row = this.#newestSource.get(...keyOf(plugin));
    if (!row) return undefined;
    const { patch, record } = row as { patch: number; record: string };
    return { version: nameOf(patch), source: JSON.parse(record) as PluginSource };
  }

  #referenceOf(row: object | undefined): StoredProgram | undefined {
    return row && this.#programs.reference((row as { program_hash: string }).program_hash);
  }
}
