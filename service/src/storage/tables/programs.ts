import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hashOfProgram } from '../../plugins/program.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';

/** What was built, each program once. */
export class Programs {
  readonly #add: StatementSync;
  readonly #find: StatementSync;
  readonly #removeUnused: StatementSync;
  // A program has megabytes, and hundreds of tests of it may wait: all of them hold the same one.
  readonly #held = new Map<string, WeakRef<Program>>();
  readonly #dropped = new FinalizationRegistry<string>((hash) => {
    // It may have been read again since.
    if (!this.#held.get(hash)?.deref()) this.#held.delete(hash);
  });

  constructor(db: DatabaseSync) {
    this.#add = db.prepare('INSERT INTO programs (hash, program) VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#find = db.prepare('SELECT program FROM programs WHERE hash = ?');
    this.#removeUnused = db.prepare(
      `DELETE FROM programs WHERE hash = ?1
       AND NOT EXISTS (SELECT 1 FROM builds WHERE program_hash = ?1)
       AND NOT EXISTS (SELECT 1 FROM versions WHERE program_hash = ?1)`,
    );
  }

  /** Stores a program, if it is not stored yet, and returns its hash. */
  add(program: Program): string {
    const json = JSON.stringify(program);
    const hash = hashOfProgram(json);
    this.#add.run(hash, json);
    return hash;
  }

  /** A program by its hash, which is not read before it is needed. */
  reference(hash: string): StoredProgram {
    return { hash, load: () => this.#load(hash) };
  }

  /** Removes a program that no build and no version refers to. Call it in the transaction that let go of it. */
  removeUnused(hash: string): void {
    if (this.#removeUnused.run(hash).changes) this.#held.delete(hash);
  }

  #load(hash: string): Program {
    const held = this.#held.get(hash)?.deref();
    if (held) return held;
    const json = this.#find.get(hash)?.['program'];
    if (typeof json !== 'string') throw new Error(`The program ${hash} is no longer stored.`);
    const program = JSON.parse(json) as Program;
    this.#held.set(hash, new WeakRef(program));
    this.#dropped.register(program, hash);
    return program;
  }
}
