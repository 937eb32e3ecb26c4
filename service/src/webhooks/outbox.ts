import { createHash } from 'node:crypto';
import { joinIdentifier } from '../plugins/plugin-key.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Transaction } from '../storage/db.ts';
import { addDeliveries } from '../storage/tables/webhook-deliveries.ts';
import type { NewDelivery } from '../storage/tables/webhook-deliveries.ts';
import { listSubscribers } from '../storage/tables/webhooks.ts';
import type { WebhookEvent } from '../plugins/webhook-events.ts';

export interface OccurredEvent {
  readonly type: WebhookEvent;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  /** What it is about. */
  readonly target: Pick<PluginKey, 'environment'> & Partial<PluginKey>;
  readonly version?: string | undefined;
  readonly actor?: string | undefined;
  readonly message?: string | undefined;
}

/** Writes events for all webhooks that want them, in their order, in the transaction of what they tell. */
export async function tellWebhooks(db: Transaction, ...events: readonly OccurredEvent[]): Promise<void> {
  const alike = Map.groupBy(events, ({ type, target }) => `${type} ${target.environment}`);
  const subscribers = new Map<OccurredEvent, readonly Uint8Array[]>();
  for (const group of alike.values()) {
    const [{ type, target }] = group as [OccurredEvent];
    const webhookIds = await listSubscribers(db, target.environment, type);
    for (const event of group) subscribers.set(event, webhookIds);
  }
  await addDeliveries(
    db,
    events.flatMap((event) => toDeliveries(event, subscribers.get(event) ?? [])),
  );
}

function toDeliveries(event: OccurredEvent, webhookIds: readonly Uint8Array[]): NewDelivery[] {
  const { type, at, target } = event;
  const { environment, tenant, namespace, pluginName } = target;
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: toData(event) });
  // Hashed, because JSON may make names three times as long as an index of PostgreSQL takes.
  const subject = createHash('sha256')
    .update(JSON.stringify([environment, tenant, namespace, pluginName]))
    .digest('base64url');
  return webhookIds.map((webhookId) => ({ webhookId, type, at, subject, body }));
}

/** What an event tells: never a source, a payload or a log. */
function toData({ target, version, actor, message }: OccurredEvent) {
  const { environment, tenant, namespace, pluginName } = target;
  return {
    environment,
    ...(tenant !== undefined && { ident: joinIdentifier({ environment, tenant }) }),
    ...(namespace !== undefined && { namespace }),
    ...(pluginName !== undefined && { name: pluginName }),
    ...(version !== undefined && { version }),
    ...(actor !== undefined && { actor }),
    ...(message !== undefined && { message }),
  };
}
