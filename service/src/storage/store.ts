import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './migrations.ts';
import { BuiltPrograms } from './tables/builds.ts';
import { Drafts } from './tables/drafts.ts';
import { EditorTokens } from './tables/editor-tokens.ts';
import { Environments } from './tables/environments.ts';
import { Programs } from './tables/programs.ts';
import { VerificationCodes } from './tables/verification-codes.ts';
import { Versions } from './tables/versions.ts';
import { transaction } from './transaction.ts';

/** All that the service remembers: one SQLite file, which several processes may have open at once. */
export interface Store {
  readonly file: string;
  readonly environments: Environments;
  readonly editorTokens: EditorTokens;
  readonly drafts: Drafts;
  readonly builds: BuiltPrograms;
  readonly versions: Versions;
  readonly verificationCodes: VerificationCodes;
  /** Runs `work` as one change: all of it happens, or, when it throws, none. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens the store in `directory`, making both when missing, for this user's eyes only (0700, 0600), and brings
 * its schema up to date. Throws an `Error` that names the file when it cannot be used.
 */
export function openStore(directory: string): Store {
  const file = join(directory, 'service.sqlite');
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // SQLite would make the file by the process's umask; its WAL files then take their mode from it.
    closeSync(openSync(file, 'a', 0o600));
    db = new DatabaseSync(file, { timeout: 10_000, enableForeignKeyConstraints: true });
    db.exec('PRAGMA journal_mode = WAL');
    // In WAL mode only FULL has each commit on the disk before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    migrate(db);
    return storeOf(file, db);
  } catch (error) {
    db?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data file ${file} cannot be used: ${reason}. Choose another folder with DATA_DIR, or delete this one to start afresh.`,
      { cause: error },
    );
  }
}

function storeOf(file: string, db: DatabaseSync): Store {
  const programs = new Programs(db);
  return {
    file,
    environments: new Environments(db),
    editorTokens: new EditorTokens(db),
    drafts: new Drafts(db),
    builds: new BuiltPrograms(db, programs),
    versions: new Versions(db, programs),
    verificationCodes: new VerificationCodes(db),
    transaction: (work) => transaction(db, work),
    close: () => {
      if (db.isOpen) db.close();
    },
  };
}
