import { createHash } from 'node:crypto';
import { v7 as createUuid } from 'uuid';
import { isWebhookEvent } from '../plugins/webhook-events.ts';
import { tellWebhooks } from '../webhooks/outbox.ts';
import type { OccurredEvent } from '../webhooks/outbox.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Db, Transaction } from '../storage/db.ts';
import { uuidToBytes } from '../storage/tables/uuids.ts';

/** What the audit log has entries of. */
export const auditActions = [
  'plugin.deployed',
  'plugin.live',
  'plugin.deleted',
  'version.deleted',
  'rollout.started',
  'rollout.changed',
  'rollout.stopped',
  'tenant.created',
  'tenant.changed',
  'tenant.suspended',
  'tenant.resumed',
  'tenant.deleted',
  'session.created',
  'sessions.ended',
  'token.created',
  'token.ended',
  'namespace.set',
  'namespace.deleted',
  'library.published',
  'library.deleted',
  'connection-value.set',
  'connection-value.deleted',
  'webhook.created',
  'webhook.changed',
  'webhook.deleted',
  'access.given',
  'runs.read',
  'runs.replayed',
  'test.real-calls',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The actions with one entry for each actor, plugin and hour. */
export type HourlyAction = Extract<
  AuditAction,
  'access.given' | 'runs.read' | 'runs.replayed' | 'test.real-calls'
>;

type ChangeAction = Exclude<AuditAction, HourlyAction>;

/** Who did something. */
export interface AuditBy {
  readonly kind: 'environment-token' | 'editor-token' | 'operator' | 'service';
  readonly via?: 'mcp';
  /** The holder of the environment token. */
  readonly holder?: string;
  /** The vendor's id for the person. */
  readonly actor?: string;
}

/** What all entries of one request have in common: who, when in milliseconds since the epoch, and by which request. */
export interface AuditStamp {
  readonly by: AuditBy;
  readonly at: number;
  readonly requestId: string;
}

/** What an entry is about, as far as it names a tenant and a plugin. */
export type AuditTarget = Pick<PluginKey, 'environment'> & Partial<PluginKey>;

export interface NewAuditEntry<A extends AuditAction = ChangeAction> extends AuditStamp {
  readonly action: A;
  readonly target: AuditTarget;
  readonly version?: string | undefined;
  /** What else there is to know: never a secret, a source, a payload or a log. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** The stamp of what the operator does by a command, or the service by itself. */
export const unattendedStamp = (kind: 'operator' | 'service', at: number): AuditStamp => ({
  by: { kind },
  at,
  requestId: createUuid({ msecs: at }),
});

/** How many entries one statement writes. */
const writtenAtOnce = 500;

/** Writes the entries of changes, in their transaction and order, and tells the webhooks that want to know of them. */
export async function writeAudit(db: Transaction, ...entries: readonly NewAuditEntry[]): Promise<void> {
  for (let start = 0; start < entries.length; start += writtenAtOnce) {
    const rows = entries.slice(start, start + writtenAtOnce).map(toRow);
    await db.query.insertInto('audit_entries').values(rows).execute();
  }
  await tellWebhooks(db, ...entries.flatMap(toEvent));
}

/** What webhooks are told of an entry. */
function toEvent({ action, at, target, version, by, details }: NewAuditEntry): OccurredEvent[] {
  if (!isWebhookEvent(action)) return [];
  const message = typeof details?.['message'] === 'string' ? details['message'] : undefined;
  return [{ type: action, at, target, version, actor: by.actor, message }];
}

/** Writes an entry of which there is one for each actor, plugin and hour, unless that is there. */
export async function writeHourlyAudit(db: Db, entry: NewAuditEntry<HourlyAction>): Promise<void> {
  await db.query
    .insertInto('audit_entries')
    .values({ ...toRow(entry), hour_key: hourKey(entry) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const hour = 60 * 60_000;

/** The same for all entries of which there is one in an hour. */
export function hourKey({ action, by, target, details, at }: NewAuditEntry<HourlyAction>): string {
  const { environment, tenant, namespace, pluginName } = target;
  const { kind, via, holder, actor } = by;
  // Whom a back end gives access may be another one than on whose behalf it asks.
  const given = details?.['actor'];
  const parts = [action, environment, tenant, namespace, pluginName, kind, via, holder, actor, given];
  return createHash('sha256')
    .update(JSON.stringify([...parts, Math.floor(at / hour)]))
    .digest('base64url');
}

/** Keeps entries of the same millisecond in their order. */
let sequence = Math.floor(Math.random() * 2 ** 31);

/** About how many bytes a row and its places in indexes take besides its texts. */
const rowOverhead = 200;

function toRow({ action, by, target, version, details, at, requestId }: NewAuditEntry<AuditAction>) {
  sequence = (sequence + 1) % 2 ** 32;
  const texts = {
    environment: target.environment,
    action,
    kind: by.kind,
    via: by.via ?? null,
    holder: by.holder ?? null,
    actor: by.actor ?? null,
    tenant: target.tenant ?? null,
    namespace: target.namespace ?? null,
    name: target.pluginName ?? null,
    version: version ?? null,
    // JSON escapes what databases cannot store.
    details: details && Object.keys(details).length ? JSON.stringify(details) : null,
    request_id: requestId,
  };
  const length = Object.values(texts).reduce((sum, one) => sum + Buffer.byteLength(one ?? ''), 0);
  return {
    ...texts,
    id: uuidToBytes(createUuid({ msecs: at, seq: sequence })),
    size: rowOverhead + length,
  };
}
