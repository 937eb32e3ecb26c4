import { LRUCache } from 'lru-cache';
import { hashOfProgram, sizeOfProgram } from '../../plugins/program.ts';
import type { Program, StoredProgram } from '../../plugins/program.ts';
import { mebibyte } from '../../units.ts';
import type { Db, Transaction } from '../db.ts';
import { lock } from '../db.ts';
import { stringifyMembers } from '../long-json.ts';
import { packText, unpackText } from '../packed-text.ts';
import type { PackedText } from '../packed-text.ts';

/**
 * The programs in the memory of this process. A program may have megabytes, and hundreds of waiting tests may refer to it: all of
 * them share one object. The most recently used ones are kept in any case, so that they can run while the database is unavailable.
 */
export class ProgramCache {
  readonly #recent = new LRUCache<string, Program>({
    maxSize: 64 * mebibyte,
    sizeCalculation: sizeOfProgram,
  });
  readonly #inUse = new Map<string, WeakRef<Program>>();
  readonly #collected = new FinalizationRegistry<string>((hash) => {
    // The program may have been loaded again since.
    if (!this.#inUse.get(hash)?.deref()) this.#inUse.delete(hash);
  });

  get(hash: string): Program | undefined {
    const program = this.#inUse.get(hash)?.deref();
    if (program) this.#recent.set(hash, program);
    return program;
  }

  /** Adds a program. Returns the object that is in the cache already, if there is one. */
  add(hash: string, program: Program): Program {
    const cached = this.get(hash);
    if (cached) return cached;
    this.#recent.set(hash, program);
    this.#inUse.set(hash, new WeakRef(program));
    this.#collected.register(program, hash);
    return program;
  }

  delete(hash: string): void {
    this.#recent.delete(hash);
    this.#inUse.delete(hash);
  }
}

/** A program was removed since it was looked up, because what referred to it was replaced or deleted. */
export class ProgramRemovedError extends Error {
  override readonly name = 'ProgramRemovedError';

  constructor(hash: string) {
    super(`The program ${hash} is no longer stored.`);
  }
}

/** A program by its hash. The database is only read when the program is loaded. */
export function storedProgram(db: Db, hash: string, isTyped: boolean): StoredProgram {
  return { hash, isTyped, load: () => loadProgram(db, hash) };
}

async function loadProgram(db: Db, hash: string): Promise<Program> {
  const cached = db.programs.get(hash);
  if (cached) return cached;
  const row = await db.query
    .selectFrom('programs')
    .select(['program', 'packed', 'bytes'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (!row) throw new ProgramRemovedError(hash);
  const json = await unpackText({ ...row, text: row.program });
  return db.programs.add(hash, JSON.parse(json) as Program);
}

/** From how many characters on programs are compressed. They are written once, and read once by each process. */
const shortestPacked = 1024;

/** A program as it is stored. */
export interface PackedProgram extends PackedText {
  readonly hash: string;
}

/** Serializes a program. Call it before the transaction that stores it, because it takes a while for a long one. */
export async function packProgram(db: Db, program: Program): Promise<PackedProgram> {
  const json = await stringifyMembers(program);
  return { hash: hashOfProgram(json), ...(await packText(db, json, shortestPacked)) };
}

/**
 * Stores a program, unless it is stored already. `replaced`: the hash of the program that it replaces, if any;
 * {@link removeUnusedPrograms} may be called for that one later in the same transaction.
 *
 * Without locks, one transaction could remove a program as unused that another one has just found stored.
 */
export async function addProgram(
  db: Transaction,
  { hash, text, packed, bytes }: PackedProgram,
  replaced?: string,
): Promise<void> {
  await lockPrograms(db, new Set([hash, ...(replaced === undefined ? [] : [replaced])]));
  await db.query
    .insertInto('programs')
    .values({ hash, program: text, packed, bytes })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Locks programs. Call it once in a transaction, with all programs that it may remove, before {@link removeUnusedPrograms}.
 * @throws LockedError
 */
export async function lockPrograms(db: Transaction, hashes: ReadonlySet<string>): Promise<void> {
  await lock(db, ...[...hashes].map((hash) => `program ${hash}`));
}

/** Removes the programs that no build and no version refers to. Call it in the transaction that removed the references. */
export async function removeUnusedPrograms(db: Transaction, hashes: ReadonlySet<string>): Promise<void> {
  if (!hashes.size) return;
  const removed = await db.query
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
  for (const { hash } of removed) db.programs.delete(hash);
}
