import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Db } from '../storage/db.ts';
import { bytesToUuid, firstBytesAt, timeOfUuid, uuidToBytes } from '../storage/tables/uuids.ts';
import type { AuditAction, AuditBy } from './entries.ts';

/** An entry of the audit log, as it is read. */
export interface AuditEntry {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly action: AuditAction;
  readonly by: AuditBy;
  readonly tenant?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly version?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}

/** Which entries of an environment are read. */
export interface AuditFilter {
  readonly environment: string;
  /** From when, and until before when, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly tenant?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
}

/** How many entries one statement looks at, so that others have not long to wait for the database. */
const windowSize = 5000;

/**
 * Lists entries, the newest first, before the id `before`. It looks at them a window at a time, because a filter that fits few
 * would otherwise be one long statement.
 */
export async function listAudit(
  db: Db,
  filter: AuditFilter,
  { before, limit, signal }: { before?: string | undefined; limit: number; signal?: AbortSignal },
): Promise<AuditEntry[]> {
  const { environment, from, to, tenant, action, actor } = filter;
  const found: AuditEntry[] = [];
  const first = firstBytesAt(from);
  const end = firstBytesAt(to);
  let next = before === undefined ? end : uuidToBytes(before);
  if (Buffer.compare(next, end) > 0) next = end;
  for (;;) {
    signal?.throwIfAborted();
    const inWindow = db.query
      .selectFrom('audit_entries')
      .where('environment', '=', environment)
      .where('id', '<', next)
      .where('id', '>=', first)
      .orderBy('id', 'desc');
    const rows = await db.query
      .selectFrom(inWindow.selectAll().limit(windowSize).as('window'))
      .selectAll()
      .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(actor !== undefined, (query) => query.where('actor', '=', actor ?? ''))
      .orderBy('id', 'desc')
      .limit(limit - found.length)
      .execute();
    found.push(...rows.map(toEntry));
    if (found.length >= limit) return found;
    const lowest = await inWindow
      .select('id')
      .offset(windowSize - 1)
      .limit(1)
      .executeTakeFirst();
    if (!lowest) return found;
    // Entries that were written since the rows were read have moved the window's end up, maybe above the last of the rows.
    const last = rows.at(-1);
    next = last && Buffer.compare(last.id, lowest.id) < 0 ? last.id : lowest.id;
    // SQLite reads without a pause.
    await yieldToOthers();
  }
}

function toEntry(row: {
  readonly id: Uint8Array;
  readonly action: string;
  readonly kind: string;
  readonly via: string | null;
  readonly holder: string | null;
  readonly actor: string | null;
  readonly tenant: string | null;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly version: string | null;
  readonly details: string | null;
  readonly request_id: string;
}): AuditEntry {
  const id = bytesToUuid(row.id);
  const { tenant, namespace, name, version, details } = row;
  return {
    id,
    at: timeOfUuid(id),
    action: row.action as AuditAction,
    by: {
      kind: row.kind as AuditBy['kind'],
      ...(row.via !== null && { via: row.via as 'mcp' }),
      ...(row.holder !== null && { holder: row.holder }),
      ...(row.actor !== null && { actor: row.actor }),
    },
    ...(tenant !== null && { tenant }),
    ...(namespace !== null && { namespace }),
    ...(name !== null && { name }),
    ...(version !== null && { version }),
    ...(details !== null && { details: JSON.parse(details) as Record<string, unknown> }),
    requestId: row.request_id,
  };
}
