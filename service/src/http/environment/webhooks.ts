import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { auditStamp } from '../audit-stamp.ts';
import { ServiceError, notFound } from '../errors.ts';
import { checkStorable } from '../grant-schemas.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { empty, json } from '../operations/responses.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { changeHealthSubscribers } from '../../storage/tables/plugin-health.ts';
import {
  deleteDeliveries,
  listDeliveries,
  maxKept,
  resendDelivery,
} from '../../storage/tables/webhook-deliveries.ts';
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  maxWebhooks,
  replaceSecret,
} from '../../storage/tables/webhooks.ts';
import type { WebhookKey, WebhookRecord } from '../../storage/tables/webhooks.ts';
import { webhookEventNames } from '../../plugins/webhook-events.ts';
import { secretContext } from '../../webhooks/sender.ts';
import { timeSchema, toTime } from './plugin-details.ts';

const path = '/api/v1/environment/:environment/webhooks';
const onePath = `${path}/:id` as const;

/** How long the former secret of a webhook signs beside the new one, in ms. */
const formerSecretTime = 24 * 60 * 60_000;

const [maxUrl, maxDescription] = [2000, 500];

const urlSchema = z
  .string()
  .max(maxUrl)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password;
  }, 'must be an address that begins with https, without a user name and a password')
  .meta({
    description: 'Where events are sent.',
    override: { type: 'string', maxLength: maxUrl, format: 'uri' },
    example: 'https://app.acme.com/hooks/plugins',
  });

const eventsSchema = z
  .array(z.enum(webhookEventNames))
  .min(1)
  .max(webhookEventNames.length)
  .refine((events) => new Set(events).size === events.length, 'must name each event once')
  .meta({ description: 'The events to send, each once.', example: ['plugin.deployed', 'plugin.failing'] });

const descriptionSchema = z.string().max(maxDescription).meta({ description: 'For people, in your words.' });

const webhookFields = {
  id: z.uuid(),
  url: z.string(),
  events: z.array(z.enum(webhookEventNames)),
  description: z.string().optional(),
  enabled: z.boolean().meta({ description: 'Whether events are sent to it.' }),
  disabledReason: z
    .string()
    .optional()
    .meta({ description: 'Why the service disabled it. Set `enabled` to `true` once that is fixed.' }),
  createdAt: timeSchema,
};

const webhookSchema = z.object(webhookFields).meta({ id: 'Webhook' });

const secretField = z.string().meta({
  description: 'The key that verifies the signatures of its events. No other response holds it.',
  example: 'whsec_…',
});

const createdSchema = z.object({ ...webhookFields, secret: secretField }).meta({ id: 'CreatedWebhook' });

const deliverySchema = z
  .object({
    id: z.string().meta({ description: 'The header `webhook-id` of every try.' }),
    type: z.enum(webhookEventNames),
    createdAt: timeSchema,
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z
      .array(
        z.object({
          at: timeSchema,
          statusCode: z.int().optional(),
          error: z.string().optional().meta({ description: 'Why there was no response.' }),
          took: z.number().min(0).meta({ description: 'How long the try took, in ms.' }),
        }),
      )
      .meta({ description: 'The tries so far.' }),
    nextAt: timeSchema
      .optional()
      .meta({ description: 'When the service tries again; only while `status` is `pending`.' }),
  })
  .meta({ id: 'WebhookDelivery' });

const pageById = pagingBy('text');
const pageByPosition = pagingBy('number');

const unknownWebhook = { 404: ['webhook-not-found'] } as const;

/** Where vendors are told of events, as Standard Webhooks says. */
export const webhooks: ServiceInterface = {
  operations: [
    operation({
      id: 'listWebhooks',
      method: 'GET',
      path,
      summary: 'List the webhooks of an environment',
      description: 'The oldest first.',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(
          z
            .object({ webhooks: z.array(webhookSchema), next: z.string().optional() })
            .meta({ id: 'WebhookList' }),
          { description: 'The webhooks.' },
        ),
      },
      handle: async ({ target: { environment }, query }, { storage }) => {
        const page = pageById({ operation: 'listWebhooks', filter: { environment } }, query);
        const found = await listWebhooks(storage.db, environment, {
          after: page.after?.[0],
          limit: page.limit,
        });
        const { items, next } = page.of(found, ({ id }) => [id], toResponse);
        return { status: 200, body: { webhooks: items, ...next } };
      },
    }),

    operation({
      id: 'createWebhook',
      method: 'POST',
      path,
      summary: 'Create a webhook',
      description: `An environment can have at most ${maxWebhooks}. Only this response has the secret.`,
      tag: 'webhooks',
      auth: 'environment',
      scope: 'manage',
      body: jsonBody(
        z
          .object({ url: urlSchema, events: eventsSchema, description: descriptionSchema.optional() })
          .meta({ id: 'WebhookRequest' }),
        { description: 'Which events to send, and where.' },
      ),
      responses: { 201: json(createdSchema, { description: 'The webhook, with its secret.' }) },
      errors: { 403: ['too-many-webhooks'], 503: ['secrets-unavailable'] },
      handle: async ({ c, caller, target: { environment }, body }, context) => {
        const { storage, now, secrets } = context;
        const { url, events, description } = body;
        checkStorable({ url, description });
        checkUrl(context, url);
        const stamp = auditStamp(c, caller, context);
        const secret = createSecret();
        const created = await storage.transaction(async (db) => {
          const fields = { environment, url, events, description, now: now() };
          const seal = (id: string) => secrets.seal(secret, secretContext(id));
          const added = await changeHealthSubscribers(db, environment, () =>
            addWebhook(db, { ...fields, seal }),
          );
          if (added) {
            const details = { id: added.id, host: new URL(url).host };
            await writeAudit(db, { ...stamp, action: 'webhook.created', target: { environment }, details });
          }
          return added;
        });
        if (!created)
          throw new ServiceError(
            403,
            'too-many-webhooks',
            `The environment has ${maxWebhooks} webhooks, which is as many as it may have; delete one first.`,
          );
        return { status: 201, body: { ...toResponse(created), secret } };
      },
    }),

    operation({
      id: 'getWebhook',
      method: 'GET',
      path: onePath,
      summary: 'Read a webhook',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'read',
      responses: { 200: json(webhookSchema, { description: 'The webhook.' }) },
      errors: unknownWebhook,
      handle: async ({ target, path: { id } }, { storage }) => {
        const found = await findWebhook(storage.db, { environment: target.environment, id });
        if (!found) throw webhookNotFound();
        return { status: 200, body: toResponse(found) };
      },
    }),

    operation({
      id: 'updateWebhook',
      method: 'PATCH',
      path: onePath,
      summary: 'Change a webhook',
      description: 'Changes only the fields that the body has.',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'manage',
      body: jsonBody(
        z
          .object({
            url: urlSchema.optional(),
            events: eventsSchema.optional(),
            description: descriptionSchema.optional(),
            enabled: z
              .boolean()
              .optional()
              .meta({ description: '`true` also enables a webhook that the service disabled.' }),
          })
          .meta({ id: 'WebhookChanges' }),
        { description: 'The fields to change.' },
      ),
      responses: { 200: json(webhookSchema, { description: 'The webhook as it is now.' }) },
      errors: unknownWebhook,
      handle: async ({ c, caller, target: { environment }, path: { id }, body }, context) => {
        checkStorable({ url: body.url, description: body.description });
        if (body.url !== undefined) checkUrl(context, body.url);
        const stamp = auditStamp(c, caller, context);
        const changed = await context.storage.transaction(async (db) => {
          const after = await changeHealthSubscribers(db, environment, () =>
            changeWebhook(db, { environment, id }, body),
          );
          const names = Object.keys(body);
          if (after && names.length) {
            const host = body.url !== undefined && new URL(body.url).host;
            const details = { id, changed: names, ...(host && { host }) };
            await writeAudit(db, { ...stamp, action: 'webhook.changed', target: { environment }, details });
          }
          return after;
        });
        if (!changed) throw webhookNotFound();
        context.webhookSender.wake();
        return { status: 200, body: toResponse(changed) };
      },
    }),

    operation({
      id: 'deleteWebhook',
      method: 'DELETE',
      path: onePath,
      summary: 'Delete a webhook',
      description: 'Also deletes its deliveries; those that are pending are not sent.',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The webhook was deleted.' }) },
      errors: unknownWebhook,
      handle: async ({ c, caller, target: { environment }, path: { id } }, context) => {
        const stamp = auditStamp(c, caller, context);
        await requireWebhook(context, { environment, id });
        // To delete all of them with it would keep others from the database for seconds.
        while (await deleteDeliveries(context.storage.db, id)) await sleep(1);
        const isDeleted = await context.storage.transaction(async (db) => {
          const wasThere = await deleteWebhook(db, { environment, id });
          if (wasThere) {
            const details = { id };
            await writeAudit(db, { ...stamp, action: 'webhook.deleted', target: { environment }, details });
          }
          return wasThere;
        });
        if (!isDeleted) throw webhookNotFound();
        return { status: 204 };
      },
    }),

    operation({
      id: 'rotateWebhookSecret',
      method: 'POST',
      path: `${onePath}/secret`,
      summary: 'Give a webhook another secret',
      description: 'For 24 hours, events are signed with the former secret as well.',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'manage',
      responses: {
        200: json(z.object({ secret: secretField }).meta({ id: 'WebhookSecret' }), {
          description: 'The new secret.',
        }),
      },
      errors: { ...unknownWebhook, 503: ['secrets-unavailable'] },
      handle: async ({ c, caller, target: { environment }, path: { id } }, context) => {
        const { storage, now, secrets } = context;
        const stamp = auditStamp(c, caller, context);
        const secret = createSecret();
        const isReplaced = await storage.transaction(async (db) => {
          const sealed = secrets.seal(secret, secretContext(id));
          const wasThere = await replaceSecret(db, { environment, id }, sealed, now() + formerSecretTime);
          if (wasThere) {
            const details = { id, changed: ['secret'] };
            await writeAudit(db, { ...stamp, action: 'webhook.changed', target: { environment }, details });
          }
          return wasThere;
        });
        if (!isReplaced) throw webhookNotFound();
        return { status: 200, body: { secret } };
      },
    }),

    operation({
      id: 'listDeliveries',
      method: 'GET',
      path: `${onePath}/deliveries`,
      summary: 'List the deliveries of a webhook',
      description: `The newest first, for 14 days: the newest ${maxKept.toLocaleString('en')} at most, and all that are pending. Of the receiver’s response, only the status is kept.`,
      tag: 'webhooks',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(
          z
            .object({ deliveries: z.array(deliverySchema), next: z.string().optional() })
            .meta({ id: 'WebhookDeliveryList' }),
          { description: 'The deliveries.' },
        ),
      },
      errors: unknownWebhook,
      handle: async ({ target: { environment }, path: { id }, query }, context) => {
        await requireWebhook(context, { environment, id });
        const page = pageByPosition({ operation: 'listDeliveries', filter: { environment, id } }, query);
        const found = await listDeliveries(context.storage.db, id, {
          before: page.after?.[0],
          limit: page.limit,
        });
        const { items, next } = page.of(
          found,
          ({ position }) => [position],
          ({ id: messageId, type, createdAt, status, attempts, nextAt }) => ({
            id: messageId,
            type,
            createdAt: toTime(createdAt),
            status,
            attempts: attempts.map((attempt) => ({ ...attempt, at: toTime(attempt.at) })),
            ...(nextAt !== undefined && { nextAt: toTime(nextAt) }),
          }),
        );
        return { status: 200, body: { deliveries: items, ...next } };
      },
    }),

    operation({
      id: 'resendDelivery',
      method: 'POST',
      path: `${onePath}/deliveries/:delivery/resend`,
      summary: 'Send an event again',
      description: 'Sends it at once, whatever its status is, and tries for another 24 hours if that fails.',
      tag: 'webhooks',
      auth: 'environment',
      scope: 'manage',
      responses: { 202: empty({ description: 'The event is sent again.' }) },
      errors: { 404: ['webhook-not-found', 'delivery-not-found'] },
      handle: async ({ target: { environment }, path: { id, delivery } }, context) => {
        await requireWebhook(context, { environment, id });
        if (!(await resendDelivery(context.storage.db, id, delivery, context.now())))
          throw notFound('delivery-not-found', 'The webhook has no such delivery.');
        context.webhookSender.wake();
        return { status: 202 };
      },
    }),
  ],
};

const webhookNotFound = () => notFound('webhook-not-found', 'The environment has no such webhook.');

/** A secret as Standard Webhooks has it. */
const createSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Throws 422 for an address that could never be reached. */
function checkUrl({ guard }: ServiceContext, url: string): void {
  const refusal = guard.isOn
    ? guard.refusal(new URL(url).origin)
    : 'cannot be sent to, because OUTBOUND is off';
  if (refusal) throw new ServiceError(422, 'invalid-body', `url: ${refusal}.`, { path: '/url' });
}

async function requireWebhook({ storage }: ServiceContext, key: WebhookKey): Promise<void> {
  if (!(await findWebhook(storage.db, key))) throw webhookNotFound();
}

const toResponse = ({
  id,
  url,
  events,
  description,
  isEnabled,
  disabledReason,
  createdAt,
}: WebhookRecord): z.input<typeof webhookSchema> => ({
  id,
  url,
  events: [...events],
  ...(description !== undefined && { description }),
  enabled: isEnabled,
  ...(disabledReason !== undefined && { disabledReason }),
  createdAt: toTime(createdAt),
});
