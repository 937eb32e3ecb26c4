import type { Kysely, Transaction } from 'kysely';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Change } from './changes/change-log.ts';
import type { Engine } from './engine.ts';
import type { Schema } from './schema.ts';
import { Builds, BuildsInTransaction } from './tables/builds.ts';
import { Drafts } from './tables/drafts.ts';
import { EditorTokens } from './tables/editor-tokens.ts';
import { Environments, EnvironmentsInTransaction } from './tables/environments.ts';
import { pluginCacheKey } from './tables/plugin-columns.ts';
import { Programs, ProgramsInTransaction } from './tables/programs.ts';
import type { HeldPrograms } from './tables/programs.ts';
import { VerificationCodes, VerificationCodesInTransaction } from './tables/verification-codes.ts';
import { Versions, VersionsInTransaction } from './tables/versions.ts';

/** What the service remembers. Each call is by itself: what a read found may have changed by the time of a write. */
export interface Tables {
  readonly environments: Environments;
  readonly editorTokens: EditorTokens;
  readonly drafts: Drafts;
  readonly builds: Builds;
  readonly versions: Versions;
  readonly programs: Programs;
  readonly verificationCodes: VerificationCodes;
}

/** The same within a transaction, with what must not be done outside of one. */
export interface TransactionTables extends Tables {
  readonly environments: EnvironmentsInTransaction;
  readonly builds: BuildsInTransaction;
  readonly versions: VersionsInTransaction;
  readonly programs: ProgramsInTransaction;
  readonly verificationCodes: VerificationCodesInTransaction;
  /**
   * Keeps every other transaction that locks the same plugin waiting, on every node, until this one has ended. To be
   * called before what is decided upon is read.
   */
  readonly lockPlugin: (plugin: PluginKey) => Promise<void>;
  /** The same for an e-mail address, in lower case. */
  readonly lockAddress: (email: string) => Promise<void>;
}

export function createTables(db: Kysely<Schema>, engine: Engine, held: HeldPrograms): Tables {
  const programs = new Programs(db, held);
  return {
    environments: new Environments(db),
    editorTokens: new EditorTokens(db, engine),
    drafts: new Drafts(db),
    builds: new Builds(db, programs),
    versions: new Versions(db, programs),
    programs,
    verificationCodes: new VerificationCodes(db, engine),
  };
}

/** `recordChange` takes what other nodes have to read anew once the transaction is committed. */
export function createTransactionTables(
  db: Transaction<Schema>,
  engine: Engine,
  held: HeldPrograms,
  recordChange: (change: Change) => void,
): TransactionTables {
  const lock = (name: string) => engine.lock(db, name);
  const programs = new ProgramsInTransaction(db, held, lock);
  return {
    environments: new EnvironmentsInTransaction(db, recordChange),
    editorTokens: new EditorTokens(db, engine),
    drafts: new Drafts(db),
    builds: new BuildsInTransaction(db, programs),
    versions: new VersionsInTransaction(db, programs, recordChange),
    programs,
    verificationCodes: new VerificationCodesInTransaction(db, engine),
    lockPlugin: (plugin) => lock(`plugin ${pluginCacheKey(plugin)}`),
    lockAddress: (email) => lock(`address ${email}`),
  };
}
