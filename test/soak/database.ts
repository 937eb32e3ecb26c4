import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Digests of deployed versions by plugin and number, as they were seen before. */
export type SeenVersions = Map<string, string>;

/** What is wrong with the service's data file, in words; and with versions that are not as they were `seen` before. */
export function databaseFaults(dataDir: string, seen: SeenVersions = new Map()): string[] {
  const db = new DatabaseSync(join(dataDir, 'service.sqlite'), { readOnly: true, timeout: 10_000 });
  try {
    const faults: string[] = [];
    for (const row of db.prepare('PRAGMA integrity_check').all()) {
      if (row['integrity_check'] !== 'ok') faults.push(`integrity_check: ${String(row['integrity_check'])}`);
    }
    for (const row of db.prepare('PRAGMA foreign_key_check').all())
      faults.push(`foreign_key_check: ${JSON.stringify(row)}`);
    return [...faults, ...programFaults(db), ...versionFaults(db, seen)];
  } finally {
    db.close();
  }
}

/** Programs that nothing refers to would fill the file, and nothing would ever remove them. */
function programFaults(db: DatabaseSync): string[] {
  const unused = db.prepare(
    `SELECT hash FROM programs WHERE hash NOT IN (SELECT program_hash FROM builds)
     AND hash NOT IN (SELECT program_hash FROM versions)`,
  );
  return unused.all().map(({ hash }) => `program ${String(hash)}: nothing refers to it`);
}

function versionFaults(db: DatabaseSync, seen: SeenVersions): string[] {
  const faults: string[] = [];
  const found = new Set<string>();
  const next = new Map<string, number>();
  const rows = db.prepare(
    `SELECT environment || '.' || tenant || '/' || namespace || '/' || plugin AS path, patch, record, program
     FROM versions JOIN programs ON hash = program_hash ORDER BY path, patch`,
  );
  for (const row of rows.iterate()) {
    const { path, patch, record, program } = row as {
      path: string;
      patch: number;
      record: string;
      program: string;
    };
    const name = `${path} v1.0.${patch}`;
    if (patch !== (next.get(path) ?? 0)) faults.push(`${name}: the versions before it are not consecutive`);
    next.set(path, patch + 1);
    const digest = createHash('sha256')
      .update(JSON.stringify([record, program]))
      .digest('base64url');
    if ((seen.get(name) ?? digest) !== digest) faults.push(`${name}: it changed after it was deployed`);
    seen.set(name, digest);
    found.add(name);
  }
  for (const name of seen.keys()) if (!found.has(name)) faults.push(`${name}: it is gone`);
  return faults;
}
