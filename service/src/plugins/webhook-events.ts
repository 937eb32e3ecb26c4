/** What a webhook can be told, and when. */
const webhookEvents = {
  'plugin.deployed': 'A version was deployed.',
  'plugin.live': 'Another version was made live, or the newest again.',
  'plugin.deleted': 'A plugin was deleted.',
  'rollout.started': 'A version gets a share of the runs.',
  'rollout.stopped': 'A rollout has ended, by a person or by its failures.',
  'plugin.failing': 'Of at least 10 runs that ended within 5 minutes, half or more failed.',
  'plugin.recovered': 'After that, of 10 runs that ended within 5 minutes, fewer than half failed.',
  'tenant.suspended': 'A tenant was suspended.',
  'tenant.resumed': 'A tenant was resumed.',
  'tenant.deleted': 'A tenant was deleted.',
} as const;

export type WebhookEvent = keyof typeof webhookEvents;

export const webhookEventNames = Object.keys(webhookEvents) as [WebhookEvent, ...WebhookEvent[]];

export const isWebhookEvent = (action: string): action is WebhookEvent =>
  Object.hasOwn(webhookEvents, action);
