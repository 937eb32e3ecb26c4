import * as z from 'zod/mini';

/** Which events a webhook gets, and where. The guide on webhooks lists the events. */
export interface WebhookDetails {
  /** `https`, except for origins in `OUTBOUND_ALLOW`. */
  url: string;
  /** Such as `plugin.deployed`. */
  events: readonly string[];
  description?: string;
}

/** A webhook: where the service sends which events of your environment. Times are ISO 8601. */
export const webhookSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.optional(z.string()),
  enabled: z.boolean(),
  /** Why the service disabled it; set `enabled` to `true` once that is fixed. */
  disabledReason: z.optional(z.string()),
  createdAt: z.string(),
});

/** A new webhook with its secret, which no other response has. */
export const createdWebhookSchema = z.looseObject({ ...webhookSchema.shape, secret: z.string() });

/** A page of webhooks; `next`, where there is more, is `after` of the next page. */
export const webhookPageSchema = z.looseObject({
  webhooks: z.array(webhookSchema),
  next: z.optional(z.string()),
});

/** A new secret of a webhook. */
export const webhookSecretSchema = z.looseObject({ secret: z.string() });

/** An event for a webhook, and the tries to send it. Times are ISO 8601. */
const deliverySchema = z.looseObject({
  /** The header `webhook-id` of every try. */
  id: z.string(),
  type: z.string(),
  createdAt: z.string(),
  /** `pending`, `delivered` or `failed`. */
  status: z.string(),
  /** `took` is in ms; `error` says why there was no response. */
  attempts: z.array(
    z.looseObject({
      at: z.string(),
      statusCode: z.optional(z.number()),
      error: z.optional(z.string()),
      took: z.number(),
    }),
  ),
  /** When the service tries again; only while `status` is `pending`. */
  nextAt: z.optional(z.string()),
});

/** A page of deliveries, the newest first; `next`, where there is more, is `after` of the next page. */
export const deliveryPageSchema = z.looseObject({
  deliveries: z.array(deliverySchema),
  next: z.optional(z.string()),
});

export type Webhook = z.output<typeof webhookSchema>;
export type CreatedWebhook = z.output<typeof createdWebhookSchema>;
export type WebhookPage = z.output<typeof webhookPageSchema>;
export type WebhookSecret = z.output<typeof webhookSecretSchema>;
export type WebhookDelivery = z.output<typeof deliverySchema>;
export type WebhookDeliveryPage = z.output<typeof deliveryPageSchema>;
