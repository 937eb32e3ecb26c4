import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { hashOfProgram } from '../../plugins/program.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';
import type { Schema } from '../schema.ts';

const MiB = 2 ** 20;

/**
 * The programs that something in this process holds. A program has megabytes, and hundreds of tests of it may wait: all of
 * them hold the same one. Those used last are held here too, so that they run while the database is away.
 */
export class ProgramCache {
  readonly #recent = new LRUCache<string, Program>({ maxSize: 64 * MiB, sizeCalculation: sizeOf });
  readonly #held = new Map<string, WeakRef<Program>>();
  readonly #dropped = new FinalizationRegistry<string>((hash) => {
    // It may have been read again since.
    if (!this.#held.get(hash)?.deref()) this.#held.delete(hash);
  });

  get(hash: string): Program | undefined {
    const program = this.#held.get(hash)?.deref();
    if (program) this.#recent.set(hash, program);
    return program;
  }

  /** Returns the one that is held already, if there is one. */
  hold(hash: string, program: Program): Program {
    const held = this.get(hash);
    if (held) return held;
    this.#recent.set(hash, program);
    this.#held.set(hash, new WeakRef(program));
    this.#dropped.register(program, hash);
    return program;
  }

  delete(hash: string): void {
    this.#recent.delete(hash);
    this.#held.delete(hash);
  }
}

/** About how many bytes a program takes. */
function sizeOf(program: Program): number {
  const { inputCheck = '', outputCheck = '' } = program.types ?? {};
  const checks = inputCheck.length + outputCheck.length;
  switch (program.kind) {
    case 'wasm':
      return 1 + checks + program.module.length;
    case 'script':
      return 1 + checks + program.code.length + (program.mappings ?? '').length;
    default:
      return 1 + checks;
  }
}

/** What was built, each program once. */
export class Programs {
  protected readonly db: Kysely<Schema>;
  protected readonly held: ProgramCache;

  constructor(db: Kysely<Schema>, held: ProgramCache) {
    this.db = db;
    this.held = held;
  }

  /** A program by its hash, which is not read before it is needed. */
  reference(hash: string, isTyped: boolean): StoredProgram {
    return { hash, isTyped, load: () => this.#load(hash) };
  }

  async #load(hash: string): Promise<Program> {
    const held = this.held.get(hash);
    if (held) return held;
    const row = await this.db
      .selectFrom('programs')
      .select('program')
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (!row) throw new Error(`The program ${hash} is no longer stored.`);
    return this.held.hold(hash, JSON.parse(row.program) as Program);
  }
}

export class ProgramsInTransaction extends Programs {
  readonly #lockAll: (names: readonly string[]) => Promise<void>;

  constructor(db: Kysely<Schema>, held: ProgramCache, lockAll: (names: readonly string[]) => Promise<void>) {
    super(db, held);
    this.#lockAll = lockAll;
  }

  /**
   * Stores a program, if it is not stored yet, and returns its hash. `replaced` is the hash of the program that it takes
   * the place of, if there is one: {@link removeUnused} may be called for that later in the same transaction.
   *
   * Without locks, a transaction that finds a program stored and one that removes it, as nobody seems to refer to it,
   * would make each other fail. All locks are taken here in one go, so that no two transactions wait for each other.
   */
  async add(program: Program, replaced?: string): Promise<string> {
    const json = JSON.stringify(program);
    const hash = hashOfProgram(json);
    await this.lockAll(new Set([hash, ...(replaced === undefined ? [] : [replaced])]));
    await this.db
      .insertInto('programs')
      .values({ hash, program: json })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return hash;
  }

  /** To be called once in a transaction, with all programs that it lets go of, before {@link removeUnused}. */
  async lockAll(hashes: ReadonlySet<string>): Promise<void> {
    await this.#lockAll([...hashes].map((hash) => `program ${hash}`));
  }

  /** Removes those that no build and no version refers to. Call it in the transaction that let go of them. */
  async removeUnused(hashes: ReadonlySet<string>): Promise<void> {
    if (!hashes.size) return;
    const removed = await this.db
      .deleteFrom('programs')
      .where('hash', 'in', [...hashes])
      .where((eb) =>
        eb.not(
          eb.exists(eb.selectFrom('builds').select('digest').whereRef('program_hash', '=', 'programs.hash')),
        ),
      )
      .where((eb) =>
        eb.not(
          eb.exists(eb.selectFrom('versions').select('patch').whereRef('program_hash', '=', 'programs.hash')),
        ),
      )
      .returning('hash')
      .execute();
    for (const { hash } of removed) this.held.delete(hash);
  }
}
