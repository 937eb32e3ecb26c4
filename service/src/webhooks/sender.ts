import { LRUCache } from 'lru-cache';
import { Webhook } from 'standardwebhooks';
import { entryLimit } from '../entry-limit.ts';
import { divisorOf, wholeNode } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { CallError } from '../outbound/call-error.ts';
import type { Guard } from '../outbound/guard.ts';
import { SecretsUnavailableError } from '../outbound/secrets.ts';
import type { Secrets } from '../outbound/secrets.ts';
import type { Transaction } from '../storage/db.ts';
import type { Storage } from '../storage/storage.ts';
import {
  claimDeliveries,
  expireDeliveries,
  finishDelivery,
  trimDeliveries,
} from '../storage/tables/webhook-deliveries.ts';
import type { Attempt, ClaimedDelivery } from '../storage/tables/webhook-deliveries.ts';
import {
  disableWebhook,
  listDueWebhooks,
  maxWebhooks,
  noteFailure,
  noteSuccess,
} from '../storage/tables/webhooks.ts';
import type { WebhookTarget } from '../storage/tables/webhooks.ts';
import { withoutOwner } from '../storage/turns.ts';

export interface SenderOptions {
  readonly storage: Pick<Storage, 'db' | 'transaction' | 'isSchemaReady'>;
  readonly guard: Pick<Guard, 'request'>;
  readonly secrets: Pick<Secrets, 'open'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How often to look for what other nodes have written, in ms (default 1000). */
  readonly interval?: number | undefined;
  /** Which of the node's processes this is (default: the only one). */
  readonly nodeShare?: NodeShare | undefined;
  /** Called in the transaction that disables a webhook. */
  readonly onDisable: (db: Transaction, webhook: WebhookTarget, reason: string) => Promise<void>;
  /** Called with each error of the database; the next look tries again. */
  readonly onError?: (error: unknown) => void;
}

const [second, day] = [1000, 24 * 60 * 60_000];

/** How long a receiver may take to answer. */
const answerTime = 5 * second;

/** For how long a node has a delivery for itself: longer than a try takes. */
const claimTime = 30 * second;

/** The time until the second try, and the longest one between two. */
const [firstDelay, longestDelay] = [5 * second, 60 * 60 * second];

/** After so long without a success a webhook is disabled. */
const patience = 5 * day;

/** How many tries there are at once on one node: for one webhook, for those of an environment, and in all. */
const places = { perWebhook: 4, perEnvironment: 16, inAll: 64 };

type Sending = Pick<WebhookTarget, 'id' | 'environment'>;

/** Puts webhooks of environments with less in progress first, so that receivers that hang do not keep all places. */
export function inFairOrder<Webhook extends Sending>(
  due: readonly Webhook[],
  sending: Iterable<Sending>,
): Webhook[] {
  const all = [...sending];
  const byEnvironment = Map.groupBy(all, ({ environment }) => environment);
  const byWebhook = Map.groupBy(all, ({ id }) => id);
  const countOf = (groups: ReadonlyMap<string, unknown[]>, key: string) => groups.get(key)?.length ?? 0;
  return due.toSorted(
    (a, b) =>
      countOf(byEnvironment, a.environment) - countOf(byEnvironment, b.environment) ||
      countOf(byWebhook, a.id) - countOf(byWebhook, b.id),
  );
}

/**
 * How many tries for a webhook may begin, beside those that are in progress. Each other webhook of its environment keeps a place, so
 * that receivers that hang do not delay it.
 * @param processes how many processes share the places of the node
 */
export function freePlaces(
  { id, environment, enabled }: Pick<WebhookTarget, 'id' | 'environment' | 'enabled'>,
  sending: readonly Sending[],
  processes = 1,
): number {
  const ofEnvironment = sending.filter((one) => one.environment === environment);
  const ofWebhook = ofEnvironment.filter((one) => one.id === id);
  const shareOf = (total: number) => Math.ceil(total / processes);
  const inEnvironment = Math.max(shareOf(places.perEnvironment), maxWebhooks) - ofEnvironment.length;
  const others = enabled - new Set([id, ...ofEnvironment.map((one) => one.id)]).size;
  return Math.min(
    shareOf(places.perWebhook) - ofWebhook.length,
    Math.max(ofWebhook.length ? 0 : 1, inEnvironment - Math.max(0, others)),
    inEnvironment,
    shareOf(places.inAll) - sending.length,
  );
}

/** How often old deliveries are deleted. */
const expiryInterval = 60 * second;

/** After how many tries a webhook's deliveries are counted, once within the interval at most. */
const triesUntilTrim = 100;

/** When a delivery is tried again after so many tries, in milliseconds since the epoch; `undefined` for never. */
export function nextTry(tries: number, now: number, giveUpAt: number): number | undefined {
  const next = now + Math.min(longestDelay, firstDelay * 2 ** (tries - 1));
  return next > giveUpAt ? undefined : next;
}

/** The context of a webhook's secret where it is encrypted. */
export const secretContext = (webhookId: string): readonly string[] => ['webhook', webhookId];

/**
 * Sends events to webhooks. Every node has a sender; a delivery is tried by one of them at a time. A node that is killed leaves
 * what it had claimed to the others, so that an event may arrive more than once, and never not at all.
 */
export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #sending = new Map<Promise<void>, WebhookTarget>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isWanted = false;
  #isClosed = false;
  #expiredAt = -Infinity;
  /** How many tries of each webhook have begun since its deliveries were counted. */
  readonly #tries = new LRUCache<string, number>(entryLimit(10_000));
  /** The webhooks whose deliveries are counted next. */
  readonly #toTrim = new Set<string>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Looks for what is to be sent, now. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isWanted = true;
    this.#looking ??= withoutOwner(() => this.#look());
  }

  /** Waits for the tries that have begun, and ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#sending.keys());
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      while (this.#isWanted && !this.#isClosed) {
        this.#isWanted = false;
        if (this.#options.storage.isSchemaReady) await this.#sendDue();
      }
    } catch (error) {
      this.#options.onError?.(error);
    } finally {
      this.#looking = undefined;
      this.#schedule();
    }
  }

  async #sendDue(): Promise<void> {
    const { storage, now, nodeShare } = this.#options;
    const divisor = divisorOf(nodeShare ?? wholeNode);
    if (now() - this.#expiredAt >= expiryInterval) {
      // Noted before, so that what fails waits until the next time.
      this.#expiredAt = now();
      const often = Array.from(this.#tries.entries()).filter(([, tries]) => tries >= triesUntilTrim);
      for (const [id] of often) {
        this.#toTrim.add(id);
        this.#tries.delete(id);
      }
      if (await expireDeliveries(storage.db, now())) this.#expiredAt = -Infinity;
    }
    const due = await listDueWebhooks(storage.db, now());
    for (const webhook of inFairOrder(due, this.#sending.values())) {
      const limit = freePlaces(webhook, [...this.#sending.values()], divisor);
      if (limit <= 0) continue;
      const time = now();
      const claim = { now: time, claimedUntil: time + claimTime, limit };
      const claimed = await claimDeliveries(storage.db, webhook.id, claim);
      for (const delivery of claimed) this.#start(webhook, delivery);
      this.#tries.set(webhook.id, (this.#tries.get(webhook.id) ?? 0) + claimed.length);
    }
    // One short statement each time, so that what is due is sent meanwhile.
    const [id] = this.#toTrim;
    if (id === undefined) return;
    this.#toTrim.delete(id);
    if (await trimDeliveries(storage.db, id)) this.#toTrim.add(id);
  }

  #start(webhook: WebhookTarget, delivery: ClaimedDelivery): void {
    const sending = this.#try(webhook, delivery)
      .catch((error: unknown) => this.#options.onError?.(error))
      .finally(() => {
        this.#sending.delete(sending);
        // There may be a place for another one, and one about the same may follow.
        this.wake();
      });
    this.#sending.set(sending, webhook);
  }

  async #try(webhook: WebhookTarget, delivery: ClaimedDelivery): Promise<void> {
    const { storage, now } = this.#options;
    const attempt = await this.#post(webhook, delivery);
    const { statusCode = 0 } = attempt;
    const isDelivered = statusCode >= 200 && statusCode < 300;
    const isGone = statusCode === 410;
    const nextAt = isDelivered || isGone ? undefined : nextTry(delivery.tries + 1, now(), delivery.giveUpAt);
    const status = isDelivered ? 'delivered' : nextAt === undefined ? 'failed' : 'pending';
    await finishDelivery(storage.db, delivery, attempt, { status, nextAt });
    // Other tries for the webhook may have ended since this one began, so that the database says since when they fail.
    if (isDelivered) return noteSuccess(storage.db, webhook.id);
    const failingSince = await noteFailure(storage.db, webhook.id, attempt.at);
    if (isGone) await this.#disable(webhook, 'The receiver answered 410 Gone.');
    else if (failingSince !== undefined && now() - failingSince >= patience)
      await this.#disable(webhook, 'No event could be delivered for five days.');
  }

  async #disable(webhook: WebhookTarget, reason: string): Promise<void> {
    const { storage, onDisable } = this.#options;
    await storage.transaction(async (db) => {
      if (await disableWebhook(db, webhook, reason)) await onDisable(db, webhook, reason);
    });
  }

  async #post(
    { id, environment, url, sealedSecrets }: WebhookTarget,
    delivery: ClaimedDelivery,
  ): Promise<Attempt> {
    const { guard, secrets, now } = this.#options;
    const at = now();
    const began = performance.now();
    const took = () => Math.round(performance.now() - began);
    try {
      const sentAt = new Date(at);
      const signatures = sealedSecrets.flatMap((sealed, index) => {
        try {
          return new Webhook(secrets.open(sealed, secretContext(id))).sign(
            delivery.id,
            sentAt,
            delivery.body,
          );
        } catch (error) {
          // Who rotates a secret because its key was lost must not wait for the former one to end.
          if (index > 0 && error instanceof SecretsUnavailableError) return [];
          throw error;
        }
      });
      const { status } = await guard.request(new URL(url), {
        method: 'POST',
        headers: [
          ['content-type', 'application/json'],
          ['user-agent', 'plugin-editor-service'],
          ['webhook-id', delivery.id],
          ['webhook-timestamp', String(Math.floor(sentAt.getTime() / 1000))],
          ['webhook-signature', signatures.join(' ')],
        ],
        body: Buffer.from(delivery.body),
        owner: { environment, tenant: '', token: '' },
        timeout: answerTime,
        maxBytes: 0,
      });
      return { at, statusCode: status, took: took() };
    } catch (error) {
      const message = error instanceof CallError ? error.message : 'The event could not be signed.';
      if (!(error instanceof CallError)) this.#options.onError?.(error);
      return { at, error: message, took: took() };
    }
  }

  #schedule(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), this.#options.interval ?? second).unref();
  }
}
