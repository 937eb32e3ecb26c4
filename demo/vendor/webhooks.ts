import type { Hono } from 'hono';
import { eachPage, HttpError } from 'plugin-editor/server.js';
import type { EnvironmentClient } from 'plugin-editor/server.js';
import { Webhook } from 'standardwebhooks';
import { identOf, nameOfActor } from './accounts.ts';
import { readText } from './body.ts';
import { Refusal } from './refusals.ts';
import type { Guards } from './sign-in.ts';
import type { WebhookMessages, WebhookView } from './wire.ts';

/** What Larder wants to be told. */
const events = [
  'plugin.deployed',
  'plugin.live',
  'plugin.deleted',
  'rollout.started',
  'rollout.stopped',
  'plugin.failing',
  'plugin.recovered',
  'tenant.suspended',
  'tenant.resumed',
  'tenant.deleted',
] as const;

const DESCRIPTION = 'Larder';
const BODY_LIMIT = 64 * 1024;

/** How many messages are kept. */
const MAX_MESSAGES = 200;

interface Received extends WebhookView {
  /** The same each time that the message is sent. */
  id: string;
  ident: string;
}

/** What the plugin service told Larder, kept in memory. A real receiver stores the ids, because a message may come again for a day. */
export class Webhooks {
  /** What verifies messages; without it every one is refused. */
  secret: string | undefined;
  #messages: Received[] = [];
  #count = 0;

  /** Takes a message. Throws 401 where the secret did not sign it. */
  receive(body: string, headers: Record<string, string>): void {
    const id = headers['webhook-id'] ?? '';
    try {
      new Webhook(this.secret ?? '').verify(body, headers);
    } catch {
      throw new Refusal(401, 'not-signed', 'The plugin service did not sign this message.');
    }
    // A message may come twice.
    if (this.#messages.some((one) => one.id === id)) return;
    const { type, timestamp, data } = JSON.parse(body) as {
      type: string;
      timestamp: string;
      data: { ident?: string; name?: string; version?: string; actor?: string; message?: string };
    };
    const { ident = '', name, version, actor, message } = data;
    const fields = { ident, name, version, actor: nameOfActor(actor), message };
    const about = Object.entries(fields).flatMap(([key, value]) => (value ? `${key}: ${value}` : []));
    this.#messages = [
      ...this.#messages,
      { number: ++this.#count, id, at: timestamp, type, fields: about.join(', '), ident },
    ].slice(-MAX_MESSAGES);
  }

  /** The messages after one, about customers that a user may know of. */
  list(isKnown: (ident: string) => boolean, after: number): WebhookMessages {
    const messages = this.#messages
      .filter(({ number, ident }) => number > after && isKnown(ident))
      .map(({ number, at, type, fields }) => ({ number, at, type, fields }));
    return { messages, last: this.#count };
  }
}

/**
 * Has the service tell Larder, instead of a webhook of a former start, whose secret is gone. Resolves with why it cannot, where it
 * has no key for secrets or sends nothing.
 */
export async function setUpWebhook(
  service: EnvironmentClient,
  environment: string,
  url: string,
  webhooks: Webhooks,
): Promise<string | undefined> {
  try {
    for await (const page of eachPage((after) => service.listWebhooks({ environment }, { after }))) {
      for (const { id, description } of page.webhooks)
        if (description === DESCRIPTION) await service.deleteWebhook({ environment, webhook: id });
    }
    const details = { url, events: [...events], description: DESCRIPTION };
    webhooks.secret = (await service.createWebhook({ environment }, details)).secret;
    return undefined;
  } catch (error) {
    if (error instanceof HttpError && [422, 503].includes(error.status)) return error.message;
    throw error;
  }
}

/** Receives the messages of the plugin service, which sends neither cookies nor the headers of browsers. */
export function receiveWebhooks(app: Hono, webhooks: Webhooks): void {
  app.post('/webhooks', async (c) => {
    webhooks.receive(await readText(c, BODY_LIMIT), c.req.header());
    return c.body(null, 204);
  });
}

/** Shows a user the messages about the user's customers, and staff all of them. */
export function serveWebhooks(app: Hono, guards: Guards, webhooks: Webhooks): void {
  app.get('/webhooks', async (c) => {
    const { kind, tenants } = await guards.requireUser(c);
    const idents = tenants.map(identOf);
    c.header('cache-control', 'no-store');
    const after = Number(c.req.query('after') ?? 0);
    return c.json(webhooks.list((ident) => kind === 'staff' || idents.includes(ident), after));
  });
}
