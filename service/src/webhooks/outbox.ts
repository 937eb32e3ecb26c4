import { joinIdentifier } from '../plugins/plugin-key.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { Transaction } from '../storage/db.ts';
import { addDeliveries } from '../storage/tables/webhook-deliveries.ts';
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

/** Writes an event for all webhooks that want it, in the transaction of what it tells. */
export async function tellWebhooks(db: Transaction, event: OccurredEvent): Promise<void> {
  const { type, at, target } = event;
  const subscribers = await listSubscribers(db, target.environment, type);
  if (!subscribers.length) return;
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: toData(event) });
  const { environment, tenant, namespace, pluginName } = target;
  const subject = JSON.stringify([environment, tenant, namespace, pluginName]);
  await addDeliveries(db, subscribers, { type, at, subject, body });
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
