import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PluginKey } from '../plugin-key.ts';
import type { PluginSource } from '../records.ts';
import type { Program } from '../sandbox/program.ts';

const keyOf = ({ environment, tenant, namespace, pluginName }: PluginKey) =>
  [environment, tenant, namespace, pluginName] as const;

const nameOf = (patch: number) => `v1.0.${patch}`;

/** The deployed versions of plugins. They are only ever added: the database itself refuses to change one. */
export class Versions {
  readonly #add: StatementSync;
  readonly #find: StatementSync;
  readonly #newest: StatementSync;
  readonly #newestSource: StatementSync;

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      `INSERT INTO versions (environment, tenant, namespace, plugin, patch, record, program, created_at)
       SELECT ?1, ?2, ?3, ?4, COALESCE(MAX(patch) + 1, 0), ?5, ?6, ?7 FROM versions
       WHERE environment = ?1 AND tenant = ?2 AND namespace = ?3 AND plugin = ?4
       RETURNING patch`,
    );
    const programs = `SELECT program FROM versions
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ?`;
    this.#find = db.prepare(`${programs} AND patch = ?`);
    this.#newest = db.prepare(`${programs} ORDER BY patch DESC LIMIT 1`);
    this.#newestSource = db.prepare(
      `SELECT patch, record FROM versions
       WHERE environment = ? AND tenant = ? AND namespace = ? AND plugin = ? ORDER BY patch DESC LIMIT 1`,
    );
  }

  /** Adds the next version: `v1.0.0`, `v1.0.1`, … Returns its name. */
  add(plugin: PluginKey, source: PluginSource, program: Program, now: number): string {
    const row = this.#add.get(...keyOf(plugin), JSON.stringify(source), JSON.stringify(program), now);
    return nameOf(Number(row?.['patch']));
  }

  /** What a version runs; `undefined` when there is no such version. */
  find(plugin: PluginKey, version: string): Program | undefined {
    const patch = Number(/^v1\.0\.(0|[1-9]\d{0,14})$/.exec(version)?.[1] ?? -1);
    return programOf(this.#find.get(...keyOf(plugin), patch));
  }

  newest(plugin: PluginKey): Program | undefined {
    return programOf(this.#newest.get(...keyOf(plugin)));
  }

  /** The newest version's name and the draft that it was made of. */
  newestSource(plugin: PluginKey): { version: string; source: PluginSource } | undefined {
    const row = this.#newestSource.get(...keyOf(plugin));
    if (!row) return undefined;
    const { patch, record } = row as { patch: number; record: string };
    return { version: nameOf(patch), source: JSON.parse(record) as PluginSource };
  }
}

function programOf(row: object | undefined): Program | undefined {
  return row && (JSON.parse((row as { program: string }).program) as Program);
}
