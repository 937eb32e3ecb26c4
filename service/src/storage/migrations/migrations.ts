import type { Transaction } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Schema } from '../schema.ts';
import { initial } from './0001-initial.ts';
import { rateCounters } from './0002-rate-counters.ts';
import { runs } from './0003-runs.ts';
import { namespaces } from './0004-namespaces.ts';
import { tenantStorage } from './0005-tenant-storage.ts';
import { connections } from './0007-connections.ts';
import { audit } from './0008-audit.ts';
import { rollout } from './0009-rollout.ts';
import { webhooks } from './0010-webhooks.ts';
import { replays } from './0011-replays.ts';
import { libraries } from './0012-libraries.ts';
import { runDays } from './0013-run-days.ts';
import { packedTexts } from './0014-packed-texts.ts';

export interface Migration {
  /** Sorts after all names before it. */
  readonly name: string;
  /**
   * The oldest program that can still use the database once this has run, as the number of migrations that it knows. A
   * migration whose tables and columns older programs can ignore keeps the number of the one before. Each release must work
   * with the schema of the release after it, so that nodes can be upgraded one by one.
   */
  readonly oldestProgram: number;
  /** Whether a program that does not know this migration cannot use a database that was made with it. */
  readonly isRequiredOfNew?: true;
  readonly up: (db: Transaction<Schema>, engine: Engine) => Promise<void>;
}

/** The schema's history. One that was released is never edited; a change is a new entry. */
export const migrations: readonly Migration[] = [
  initial,
  rateCounters,
  runs,
  namespaces,
  tenantStorage,
  connections,
  audit,
  rollout,
  webhooks,
  replays,
  libraries,
  runDays,
  packedTexts,
];

/** The first program that can read compressed texts. They are written where no older one can use the database. */
export const firstReaderOfPackedTexts = migrations.indexOf(packedTexts) + 1;
