import type { Kysely, Transaction } from 'kysely';
import type { PluginKey, TenantKey } from '../plugins/plugin-key.ts';
import type { Change } from './changes/change-log.ts';
import type { Engine } from './engine.ts';
import { eraseSome, hasErasable } from './erasing/erase.ts';
import type { Schema } from './schema.ts';
import { Builds, BuildsInTransaction } from './tables/builds.ts';
import { Drafts, DraftsInTransaction } from './tables/drafts.ts';
import { EditorTokens } from './tables/editor-tokens.ts';
import { Environments, EnvironmentsInTransaction } from './tables/environments.ts';
import { pluginLock, tenantCacheKey } from './tables/names.ts';
import { Namespaces } from './tables/namespaces.ts';
import { Plugins, PluginsInTransaction } from './tables/plugins.ts';
import { Programs, ProgramsInTransaction } from './tables/programs.ts';
import type { ProgramCache } from './tables/programs.ts';
import { RateCounters } from './tables/rate-counters.ts';
import { Runs } from './tables/runs.ts';
import { Usage } from './tables/usage.ts';
import { Tenants, TenantsInTransaction } from './tables/tenants.ts';
import { VerificationCodes, VerificationCodesInTransaction } from './tables/verification-codes.ts';
import { TenantStorage } from './tables/tenant-storage.ts';
import { Versions, VersionsInTransaction } from './tables/versions.ts';

/** The tables of the service. Each call is a transaction: rows may change between a read and a write. */
export interface Tables {
  readonly environments: Environments;
  readonly tenants: Tenants;
  readonly plugins: Plugins;
  readonly namespaces: Namespaces;
  readonly editorTokens: EditorTokens;
  readonly drafts: Drafts;
  readonly builds: Builds;
  readonly versions: Versions;
  readonly programs: Programs;
  readonly tenantStorage: TenantStorage;
  readonly verificationCodes: VerificationCodes;
  readonly rateCounters: RateCounters;
  /** Whether anything that was deleted still has to be erased. */
  readonly hasErasable: () => Promise<boolean>;
  readonly runs: Runs;
  readonly usage: Usage;
}

/** Another transaction holds a lock. The one that asked for it is rolled back, so that it waits without a connection. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/** The tables within a transaction, with the methods that must not be called outside of one. */
export interface TransactionTables extends Tables {
  readonly environments: EnvironmentsInTransaction;
  readonly tenants: TenantsInTransaction;
  readonly plugins: PluginsInTransaction;
  readonly drafts: DraftsInTransaction;
  readonly builds: BuildsInTransaction;
  readonly versions: VersionsInTransaction;
  readonly programs: ProgramsInTransaction;
  readonly verificationCodes: VerificationCodesInTransaction;
  /**
   * Locks a plugin until the transaction ends: others that lock it, on any node, wait. Call it before reading what the
   * transaction decides upon. It throws a {@link LockedError} while another one has the lock, and then the transaction is rolled
   * back and its work done anew.
   */
  readonly lockPlugin: (plugin: PluginKey) => Promise<void>;
  /**
   * Locks a tenant, for decisions that depend on all of its plugins. Call it after {@link lockPlugin}: two transactions that take
   * the two locks in different orders would deadlock.
   */
  readonly lockTenant: (tenant: TenantKey) => Promise<void>;
  /**
   * Erases some of the rows of deleted tenants and plugins. Call it in a transaction that does nothing else. Resolves with
   * whether there may be more, and with false while another node is erasing.
   * `limit`: how many plugins to erase at most, and how many of their rows from each table.
   */
  readonly erase: (now: number, limit: number) => Promise<boolean>;
  /** As {@link lockPlugin}, for an e-mail address in lower case. */
  readonly lockAddress: (email: string) => Promise<void>;
}

export function createTables(db: Kysely<Schema>, engine: Engine, cache: ProgramCache): Tables {
  const programs = new Programs(db, cache);
  return {
    environments: new Environments(db),
    tenants: new Tenants(db),
    plugins: new Plugins(db),
    namespaces: new Namespaces(db),
    editorTokens: new EditorTokens(db, engine),
    drafts: new Drafts(db, engine),
    builds: new Builds(db, programs),
    versions: new Versions(db, programs),
    programs,
    tenantStorage: new TenantStorage(db, engine),
    verificationCodes: new VerificationCodes(db, engine),
    rateCounters: new RateCounters(db, engine),
    hasErasable: () => hasErasable(db),
    runs: new Runs(db, engine),
    usage: new Usage(db, engine),
  };
}

/** `recordChange` is called for each change that other nodes have to learn of once the transaction is committed. */
export function createTransactionTables(
  db: Transaction<Schema>,
  engine: Engine,
  cache: ProgramCache,
  recordChange: (change: Change) => void,
): TransactionTables {
  const lock = async (...names: readonly string[]) => {
    if (!(await engine.tryLock(db, ...names))) throw new LockedError(names.join());
  };
  const programs = new ProgramsInTransaction(db, cache, (names) => lock(...names));
  const plugins = new PluginsInTransaction(db, recordChange);
  return {
    environments: new EnvironmentsInTransaction(db, recordChange, lock),
    tenants: new TenantsInTransaction(db, recordChange),
    plugins,
    namespaces: new Namespaces(db),
    editorTokens: new EditorTokens(db, engine),
    drafts: new DraftsInTransaction(db, engine, plugins),
    builds: new BuildsInTransaction(db, programs),
    versions: new VersionsInTransaction(db, programs, recordChange),
    programs,
    tenantStorage: new TenantStorage(db, engine),
    verificationCodes: new VerificationCodesInTransaction(db, engine),
    rateCounters: new RateCounters(db, engine),
    hasErasable: () => hasErasable(db),
    runs: new Runs(db, engine),
    usage: new Usage(db, engine),
    lockPlugin: (plugin) => lock(pluginLock(plugin)),
    lockTenant: (tenant) => lock(`tenant ${tenantCacheKey(tenant)}`),
    erase: (now, limit) => eraseSome({ db, engine, programs, limit, lock }, now),
    lockAddress: (email) => lock(`address ${email}`),
  };
}
