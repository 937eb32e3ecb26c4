import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import type { KyselyPlugin } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { createLog } from '../../../../service/src/operations/log.ts';
import { Guard } from '../../../../service/src/outbound/guard.ts';
import { Secrets } from '../../../../service/src/outbound/secrets.ts';
import { StorageUnavailableError } from '../../../../service/src/storage/errors.ts';
import {
  addDeliveries,
  claimDeliveries,
  expireDeliveries,
  trimDeliveries,
} from '../../../../service/src/storage/tables/webhook-deliveries.ts';
import {
  addWebhook,
  listSubscribers,
  webhookIdToBytes,
} from '../../../../service/src/storage/tables/webhooks.ts';
import { addEnvironment } from '../../../../service/src/storage/tables/environments.ts';
import { selectPluginId } from '../../../../service/src/storage/tables/names.ts';
import { tellWebhooks } from '../../../../service/src/webhooks/outbox.ts';
import { isFailing, PluginHealth } from '../../../../service/src/webhooks/plugin-health.ts';
import {
  freePlaces,
  inFairOrder,
  nextTry,
  secretContext,
  WebhookSender,
} from '../../../../service/src/webhooks/sender.ts';
import { eventually, PATIENCE, until } from '../../../support/until.ts';
import { engineUnderTest, freshStorage, postgresTest } from '../../storage/databases.ts';
import { longName } from '../../storage/plugins.ts';
import { startAuthor } from './deployed-plugin.ts';
import { startVendor } from './vendor.ts';
import { isSignedBy, startReceiver } from './webhook-receiver.ts';

const webhooks = '/api/v1/environment/com.acme/webhooks';
const pluginKey = { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' };
const secrets = { keys: [Buffer.alloc(32, 7)] };

interface Created {
  id: string;
  secret: string;
  enabled: boolean;
  disabledReason?: string;
}

interface Delivery {
  id: string;
  type: string;
  status: string;
  attempts: { at: string; statusCode?: number; error?: string }[];
  nextAt?: string;
}

/** Waits for a value that is there, and returns it. */
async function find<T>(what: string, read: () => Promise<T | false | undefined>): Promise<T> {
  return (await eventually(read, Boolean, what)) as T;
}

/** An author, and a receiver of the vendor's, for whose answers the service waits longer than a busy machine takes. */
async function startListening(t: TestContext) {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { request } = Guard.prototype;
  t.mock.method(Guard.prototype, 'request', function (this: Guard, ...args: Parameters<typeof request>) {
    const [url, options] = args;
    return request.call(this, url, { ...options, timeout: PATIENCE });
  });
  const receiver = await startReceiver(t);
  // Every name leads to a private address.
  const outbound = { allow: [receiver.origin], resolve: () => Promise.resolve(['127.0.0.1']) };
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line));
  const author = await startAuthor(t, { actor: 'ada' }, { secrets, outbound, log });
  const listen = (events: readonly string[], path = '/hooks') =>
    author.okay<Created>(author.send('POST', webhooks, { url: receiver.origin + path, events }), 201);
  const deliveriesOf = async ({ id }: Created) =>
    (await author.okay<{ deliveries: Delivery[] }>(author.send('GET', `${webhooks}/${id}/deliveries`)))
      .deliveries;
  return { ...author, receiver, listen, deliveriesOf, lines };
}

test('a webhook is created, listed, changed and deleted', async (t) => {
  const { send, okay, refusal } = await startVendor(t, { secrets });
  const url = 'https://app.acme.com/hooks';
  const { secret, ...created } = await okay<Created>(
    send('POST', webhooks, { url, events: ['plugin.deployed'], description: 'Chat' }),
    201,
  );
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  const { id } = created;
  const createdAt = '2026-01-01T00:00:00.000Z';
  const expected = { id, url, events: ['plugin.deployed'], description: 'Chat', enabled: true, createdAt };
  assert.deepEqual(created, expected);
  assert.deepEqual(await okay(send('GET', webhooks)), { webhooks: [expected] });
  const changes = { events: ['plugin.live', 'tenant.deleted'], enabled: false };
  assert.deepEqual(await okay(send('PATCH', `${webhooks}/${id}`, changes)), { ...expected, ...changes });
  assert.deepEqual(await okay(send('GET', `${webhooks}/${id}`)), { ...expected, ...changes });
  await okay(send('DELETE', `${webhooks}/${id}`), 204);
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/secret'],
    ['GET', '/deliveries'],
    ['POST', '/deliveries/msg_1/resend'],
  ] as const) {
    const body = method === 'PATCH' ? {} : undefined;
    const refused = await refusal(send(method, `${webhooks}/${id}${path}`, body));
    assert.equal(refused, '404 webhook-not-found', `${method} ${path}`);
  }
});

test('an environment has ten webhooks at most, in pages', async (t) => {
  const { send, okay, refusal } = await startVendor(t, { secrets });
  const body = { url: 'https://app.acme.com/hooks', events: ['plugin.live'] };
  for (let count = 0; count < 10; count++) await okay(send('POST', webhooks, body), 201);
  assert.equal(await refusal(send('POST', webhooks, body)), '403 too-many-webhooks');
  const first = await okay<{ webhooks: Created[]; next: string }>(send('GET', `${webhooks}?limit=6`));
  const second = await okay<{ webhooks: Created[] }>(
    send('GET', `${webhooks}?limit=6&after=${encodeURIComponent(first.next)}`),
  );
  assert.equal(new Set([...first.webhooks, ...second.webhooks].map(({ id }) => id)).size, 10);
});

test('what could never be reached, or is no event, is refused with its path', async (t) => {
  const { send } = await startVendor(t, { secrets });
  const events = ['plugin.live'];
  for (const [body, path] of [
    [{ url: 'http://app.acme.com/', events }, '/url'],
    [{ url: 'https://127.0.0.1/', events }, '/url'],
    [{ url: 'https://[::1]/', events }, '/url'],
    [{ url: 'https://localhost/', events }, '/url'],
    [{ url: 'https://user:word@app.acme.com/', events }, '/url'],
    [{ url: 'ftp://app.acme.com/', events }, '/url'],
    [{ url: 'nowhere', events }, '/url'],
    [{ url: 'https://app.acme.com/', events: [] }, '/events'],
    [{ url: 'https://app.acme.com/', events: ['plugin.saved'] }, '/events/0'],
    [{ url: 'https://app.acme.com/', events: ['plugin.live', 'plugin.live'] }, '/events'],
  ] as const) {
    const response = await send('POST', webhooks, body);
    const { error } = (await response.json()) as { error: { code: string; path: string } };
    assert.deepEqual(
      [response.status, error.code, error.path],
      [422, 'invalid-body', path],
      JSON.stringify(body),
    );
  }
});

test('an address that not every database can store is refused', async (t) => {
  const { send, okay, refusal } = await startVendor(t, { secrets });
  const events = ['plugin.live'];
  const { id } = await okay<Created>(
    send('POST', webhooks, { url: 'https://app.acme.com/hooks', events }),
    201,
  );
  // Parsers of URLs take both.
  for (const url of ['https://app.acme.com/\0', 'https://app.acme.com/\ud800']) {
    assert.equal(await refusal(send('POST', webhooks, { url, events })), '400 invalid-text');
    assert.equal(await refusal(send('PATCH', `${webhooks}/${id}`, { url })), '400 invalid-text');
  }
});

test('without a key for secrets, or with OUTBOUND off, there is no webhook', async (t) => {
  const body = { url: 'https://app.acme.com/', events: ['plugin.live'] };
  const open = await startVendor(t);
  assert.equal(await open.refusal(open.send('POST', webhooks, body)), '503 secrets-unavailable');
  const closed = await startVendor(t, { secrets, outbound: { isOn: false } });
  assert.equal(await closed.refusal(closed.send('POST', webhooks, body)), '422 invalid-body');
});

test('each change is told once, signed, with who made it and nothing of the source', async (t) => {
  const { receiver, listen, deploy, send, okay, deliveriesOf, plugin, storage } = await startListening(t);
  const created = await listen([
    'plugin.deployed',
    'plugin.live',
    'plugin.deleted',
    'tenant.suspended',
    'tenant.resumed',
    'tenant.deleted',
  ]);
  await listen(['plugin.failing'], '/others');
  await deploy('one', 'The first');
  await deploy('two');
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  await okay(send('DELETE', plugin()), 204);
  const tenant = '/api/v1/tenant/com.acme.t1';
  await okay(send('PATCH', tenant, { suspended: true }));
  await okay(send('PATCH', tenant, { suspended: false }));
  await okay(send('DELETE', tenant), 204);
  await until('all events', () => receiver.messages.length === 7);
  const ident = 'com.acme.t1';
  const of = { environment: 'com.acme', ident, namespace: 'default', name: 'add-record' };
  const eventsOf = (kind: string) =>
    receiver.events().flatMap(({ type, data }) => (type.startsWith(kind) ? [[type, data]] : []));
  assert.deepEqual(eventsOf('plugin.'), [
    ['plugin.deployed', { ...of, version: 'v1.0.0', actor: 'ada', message: 'The first' }],
    ['plugin.deployed', { ...of, version: 'v1.0.1', actor: 'ada' }],
    ['plugin.live', { ...of, version: 'v1.0.0' }],
    ['plugin.deleted', of],
  ]);
  const data = { environment: 'com.acme', ident };
  assert.deepEqual(eventsOf('tenant.'), [
    ['tenant.suspended', data],
    ['tenant.resumed', data],
    ['tenant.deleted', data],
  ]);
  const stored = await storage.db.query.selectFrom('webhooks').select('sealed_secret').execute();
  assert.ok(!JSON.stringify(stored).includes(created.secret));
  for (const message of receiver.messages) {
    assert.ok(isSignedBy(created.secret, message));
    assert.equal(message.headers['content-type'], 'application/json');
  }
  const deliveries = await find('all to be delivered', async () => {
    const all = await deliveriesOf(created);
    return all.every(({ status }) => status === 'delivered') && all;
  });
  assert.deepEqual(
    new Set(deliveries.map(({ id }) => id)),
    new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])),
  );
  assert.deepEqual(
    deliveries[0]?.attempts.map(({ statusCode }) => statusCode),
    [204],
  );
});

test('the end of a rollout is told and noted, also where its plugin or its tenant is deleted', async (t) => {
  const { receiver, listen, deploy, send, okay, plugin, storage } = await startListening(t);
  await listen(['rollout.started', 'rollout.stopped', 'plugin.deleted', 'tenant.deleted']);
  const names = ['deleted', 'kept', 'never', 'over'];
  for (const name of names) {
    await deploy('one', undefined, name);
    await okay(send('PUT', `${plugin(name)}/live`, { version: 'v1.0.0' }));
    await deploy('two', undefined, name);
  }
  for (const name of ['deleted', 'kept', 'over'])
    await okay(send('PUT', `${plugin(name)}/rollout`, { version: 'v1.0.1', percent: 10 }));
  await okay(send('DELETE', `${plugin('over')}/rollout`), 204);
  await okay(send('DELETE', plugin('deleted')), 204);
  await okay(send('DELETE', '/api/v1/tenant/com.acme.t1'), 204);
  await until('all events', () => receiver.messages.length === 8);
  const told = (name?: string) =>
    receiver
      .events()
      .flatMap(({ type, data }) => (data['name'] === name ? [`${type} ${String(data['version'])}`] : []));
  const rolledOut = ['rollout.started v1.0.1', 'rollout.stopped v1.0.1'];
  assert.deepEqual(told('deleted'), [...rolledOut, 'plugin.deleted undefined']);
  assert.deepEqual(told('kept'), rolledOut);
  assert.deepEqual(told('over'), rolledOut);
  assert.deepEqual(told(), ['tenant.deleted undefined']);
  const ends = await storage.db.query
    .selectFrom('audit_entries')
    .select(['action', 'name', 'version', 'details'])
    .where('action', 'in', ['rollout.stopped', 'plugin.deleted', 'tenant.deleted'])
    .orderBy('id')
    .execute();
  assert.deepEqual(
    ends.map(({ action, name, details }) => [action, name, details]),
    [
      ['rollout.stopped', 'over', '{"reason":"ended"}'],
      ['rollout.stopped', 'deleted', '{"reason":"deleted"}'],
      ['plugin.deleted', 'deleted', null],
      ['rollout.stopped', 'kept', '{"reason":"deleted"}'],
      ['tenant.deleted', null, null],
    ],
  );
});

test('the official library verifies a message, and refuses one that was changed', async (t) => {
  const { receiver, listen, deploy, clock } = await startListening(t);
  const { secret } = await listen(['plugin.deployed']);
  await deploy('one');
  await until('the event', () => receiver.messages.length === 1);
  const [message] = receiver.messages;
  assert.ok(message);
  const headers = message.headers as Record<string, string>;
  // The library compares with the time of the day.
  t.mock.timers.enable({ apis: ['Date'], now: clock.now });
  const verified = new Webhook(secret).verify(message.body, headers) as { type: string };
  assert.equal(verified.type, 'plugin.deployed');
  assert.throws(() => new Webhook(secret).verify(message.body.replace('v1', 'v2'), headers));
});

test('a former secret signs beside the new one for a day', async (t) => {
  const { receiver, listen, deploy, send, okay, clock } = await startListening(t);
  const created = await listen(['plugin.deployed']);
  const { secret } = await okay<{ secret: string }>(send('POST', `${webhooks}/${created.id}/secret`));
  assert.notEqual(secret, created.secret);
  await deploy('one');
  await until('the event', () => receiver.messages.length === 1);
  clock.now += 24 * 60 * 60_000 + 1;
  const author = await okay<{ token: string }>(send('POST', '/api/v1/tenant/com.acme.t1/session', {}), 201);
  assert.ok(author.token);
  await okay(send('PUT', `/api/v1/plugin/com.acme.t1/default/add-record/live`, { version: null }));
  await okay(send('PATCH', `${webhooks}/${created.id}`, { events: ['plugin.live'] }));
  await okay(send('PUT', `/api/v1/plugin/com.acme.t1/default/add-record/live`, { version: 'v1.0.0' }));
  await until('the later event', () => receiver.messages.length === 2);
  const [early, late] = receiver.messages;
  assert.ok(early && late);
  assert.ok(isSignedBy(created.secret, early) && isSignedBy(secret, early));
  assert.deepEqual([isSignedBy(created.secret, late), isSignedBy(secret, late)], [false, true]);
});

test('a secret whose key was lost is logged and replaced, and does not keep the new one from signing', async (t) => {
  const { receiver, listen, deploy, send, okay, storage, lines } = await startListening(t);
  const { id } = await listen(['plugin.deployed']);
  const lost = new Secrets({ keys: [Buffer.alloc(32, 8)] }).seal('lost', secretContext(id));
  await storage.db.query.updateTable('webhooks').set({ sealed_secret: lost }).execute();
  await deploy('unsigned');
  await until('the log', () => lines.length > 0);
  assert.match(
    lines[0] ?? '',
    /"level":"warn".*SECRETS_KEY does not hold.*"A webhook could not be sent to\."/,
  );
  const { secret } = await okay<{ secret: string }>(send('POST', `${webhooks}/${id}/secret`));
  await deploy('one');
  await until('the event', () => receiver.messages.length === 1);
  assert.ok(isSignedBy(secret, receiver.messages[0] ?? assert.fail()));
});

test('an event that fails is tried again, and in the end given up', async (t) => {
  const { receiver, listen, deploy, deliveriesOf, clock } = await startListening(t);
  const created = await listen(['plugin.deployed']);
  receiver.answer = (_, response) => {
    // A redirect is not followed.
    if (receiver.messages.length === 2) response.writeHead(307, { location: '/elsewhere' }).end();
    else response.writeHead(500).end('a secret of the receiver');
  };
  await deploy('one');
  const delivery = async () => (await deliveriesOf(created))[0];
  const attempts = async (count: number) =>
    find(`${count} tries`, async () => {
      const one = await delivery();
      return one?.attempts.length === count && one;
    });
  const first = await attempts(1);
  assert.equal(first.status, 'pending');
  assert.equal(Date.parse(first.nextAt ?? '') - Date.parse(first.attempts[0]?.at ?? ''), 5000);
  clock.now += 5000;
  const second = await attempts(2);
  assert.equal(Date.parse(second.nextAt ?? '') - Date.parse(second.attempts[1]?.at ?? ''), 10_000);
  clock.now = Date.parse('2026-01-02T00:00:00.000Z');
  const last = await attempts(3);
  assert.deepEqual(
    last.attempts.map(({ statusCode }) => statusCode),
    [500, 307, 500],
  );
  assert.equal(receiver.messages.length, 3);
  assert.equal(last.status, 'failed');
  assert.equal(last.nextAt, undefined);
  assert.ok(!JSON.stringify(last).includes('secret of the receiver'));
});

test('what is past its time is not sent any more', async (t) => {
  const { receiver, listen, deploy, deliveriesOf, send, okay, plugin, clock } = await startListening(t);
  const created = await listen(['plugin.deployed', 'plugin.live']);
  receiver.answer = (_, response) => void response.writeHead(receiver.messages.length > 1 ? 204 : 500).end();
  await deploy('one');
  await find('a try', async () => (await deliveriesOf(created))[0]?.attempts[0]);
  clock.now += 24 * 60 * 60_000 + 1;
  await okay(send('PUT', `${plugin()}/live`, { version: 'v1.0.0' }));
  const [, late] = await find('the end of both', async () => {
    const all = await deliveriesOf(created);
    // The sender looks for what is past its time before it sends, and may have looked before the clock was turned.
    return all[0]?.status === 'delivered' && all.every(({ status }) => status !== 'pending') && all;
  });
  assert.deepEqual([late?.status, late?.attempts.length], ['failed', 1]);
});

test('an address that is not public is not sent to', async (t) => {
  const { deploy, deliveriesOf, send, okay } = await startListening(t);
  const body = { url: 'https://hooks.example.com/', events: ['plugin.deployed'] };
  const created = await okay<Created>(send('POST', webhooks, body), 201);
  await deploy('one');
  const { error = '' } = await find('a try', async () => (await deliveriesOf(created))[0]?.attempts[0]);
  assert.match(error, /^hooks\.example\.com may not be reached/);
});

test('an event can be sent again, whatever became of it', async (t) => {
  const { receiver, listen, deploy, deliveriesOf, send, okay, refusal, storage } = await startListening(t);
  const created = await listen(['plugin.deployed']);
  await deploy('one');
  await until('the event', () => receiver.messages.length === 1);
  const [delivery] = await find('its end', async () => {
    const all = await deliveriesOf(created);
    return all[0]?.status === 'delivered' && all;
  });
  const path = `${webhooks}/${created.id}/deliveries`;
  const former = Array.from({ length: 100 }, () => ({ at: 0, statusCode: 500, took: 1 }));
  await storage.db.query
    .updateTable('webhook_deliveries')
    .set({ attempts: JSON.stringify(former) })
    .execute();
  await okay(send('POST', `${path}/${delivery?.id}/resend`), 202);
  await until('the event again', () => receiver.messages.length === 2);
  const ids = receiver.messages.map(({ headers }) => headers['webhook-id']);
  assert.equal(ids[0], ids[1]);
  // However often it is sent again, no more are kept.
  const kept = await find('the new attempt', async () => {
    const attempts = (await deliveriesOf(created))[0]?.attempts;
    return attempts?.at(-1)?.statusCode === 204 && attempts;
  });
  assert.equal(kept.length, 100);
  assert.equal(await refusal(send('POST', `${path}/msg_other/resend`)), '404 delivery-not-found');
});

postgresTest('an event is written for a webhook that is deleted at the same time', async (t) => {
  const { listen, send, okay, storage, clock } = await startListening(t);
  const { id } = await listen(['plugin.deployed']);
  const listed = Promise.withResolvers<void>();
  let isDeleted = false;
  const deletion = (async () => {
    await listed.promise;
    await okay(send('DELETE', `${webhooks}/${id}`), 204);
    isDeleted = true;
  })();
  await storage.transaction(async (db) => {
    const [webhookId = assert.fail()] = await listSubscribers(db, 'com.acme', 'plugin.deployed');
    listed.resolve();
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(
      'the deletion to wait, or to be done',
      async () => isDeleted || (await waiting.execute(storage.db.query)).rows.length > 0,
    );
    await addDeliveries(db, [
      { webhookId, type: 'plugin.deployed', at: clock.now, subject: '[]', body: '{}' },
    ]);
  });
  await deletion;
});

test('a receiver that is gone is told nothing more, until the webhook is enabled again', async (t) => {
  const { receiver, listen, deploy, send, okay } = await startListening(t);
  const created = await listen(['plugin.deployed']);
  receiver.answer = (_, response) => void response.writeHead(410).end();
  await deploy('one');
  const path = `${webhooks}/${created.id}`;
  const disabled = await find('it to be disabled', async () => {
    const found = await okay<Created>(send('GET', path));
    return !found.enabled && found;
  });
  assert.match(disabled.disabledReason ?? '', /410/);
  const audit = '/api/v1/environment/com.acme/audit?action=webhook.changed';
  const { entries } = await okay<{ entries: { by: object; details: object }[] }>(send('GET', audit));
  assert.deepEqual(
    entries.map(({ by, details }) => [by, details]),
    [[{ kind: 'service' }, { id: created.id, enabled: false, reason: disabled.disabledReason }]],
  );
  await deploy('two');
  const enabled = await okay<Created>(send('PATCH', path, { enabled: true }));
  assert.deepEqual([enabled.enabled, enabled.disabledReason], [true, undefined]);
  await deploy('three');
  await until('the event after that', () => receiver.messages.length === 2);
  assert.deepEqual(
    receiver.events().map(({ data }) => data['version']),
    ['v1.0.0', 'v1.0.2'],
  );
});

test('after five days without success a webhook is disabled', async (t) => {
  const { receiver, listen, deploy, send, okay, clock, startSession, storage } = await startListening(t);
  const created = await listen(['plugin.deployed', 'plugin.live']);
  receiver.answer = (_, response) => void response.writeHead(503).end();
  await deploy('one');
  await until('the first failure is stored', async () => {
    const row = await storage.db.query.selectFrom('webhooks').select('failing_since').executeTakeFirst();
    return row?.failing_since != null;
  });
  clock.now += 5 * 24 * 60 * 60_000;
  await startSession('com.acme.t1');
  await okay(send('PUT', `/api/v1/plugin/com.acme.t1/default/add-record/live`, { version: 'v1.0.0' }));
  const disabled = await find('it to be disabled', async () => {
    const found = await okay<Created>(send('GET', `${webhooks}/${created.id}`));
    return !found.enabled && found;
  });
  assert.match(disabled.disabledReason ?? '', /five days/);
});

test('a success counts, although the try that failed began after it', async (t) => {
  const { receiver, listen, deploy, send, okay, storage } = await startListening(t);
  await listen(['plugin.deployed', 'tenant.suspended']);
  const held: ServerResponse[] = [];
  receiver.answer = (_, response) => void held.push(response);
  const fails = async () => {
    const row = await storage.db.query.selectFrom('webhooks').select('failing_since').executeTakeFirst();
    return row?.failing_since != null;
  };
  await deploy('one');
  await until('the first try', () => held.length === 1);
  await okay(send('PATCH', '/api/v1/tenant/com.acme.t1', { suspended: true }));
  await until('the second try', () => held.length === 2);
  held[1]?.writeHead(503).end();
  await until('the failure is stored', fails);
  held[0]?.writeHead(204).end();
  await until('the success is stored', async () => !(await fails()));
});

test('the first tries about one plugin come in order, and a slow receiver delays no other one', async (t) => {
  const { receiver, listen, deploy } = await startListening(t);
  await listen(['plugin.deployed'], '/slow');
  await listen(['plugin.deployed'], '/quick');
  const held: ServerResponse[] = [];
  const isSlow = (message: { headers: object }) => 'x-slow' in message.headers;
  const seen = { slow: 0, quick: 0 };
  const paths: string[] = [];
  receiver.answer = (message, response) => {
    assert.ok(!isSlow(message));
    const path = response.req.url ?? '';
    paths.push(path);
    if (path === '/slow') {
      seen.slow += 1;
      held.push(response);
    } else {
      seen.quick += 1;
      response.writeHead(204).end();
    }
  };
  for (const result of ['one', 'two', 'three']) await deploy(result);
  await until('all of the quick one, and the first of the slow one', () => seen.quick === 3 && seen.slow > 0);
  assert.equal(seen.slow, 1);
  for (let count = 1; count <= 3; count++) {
    await until(`event ${count} of the slow one`, () => seen.slow === count);
    held.pop()?.writeHead(204).end();
  }
  const versions = (path: string) =>
    receiver.events().flatMap(({ data }, i) => (paths[i] === path ? [data['version']] : []));
  assert.deepEqual(versions('/slow'), ['v1.0.0', 'v1.0.1', 'v1.0.2']);
  assert.deepEqual(versions('/quick'), ['v1.0.0', 'v1.0.1', 'v1.0.2']);
});

test('of two nodes one sends an event', async (t) => {
  const { receiver, listen, deploy, startNode, deliveriesOf, send, okay, clock } = await startListening(t);
  const created = await listen(['plugin.deployed']);
  await startNode();
  for (const result of ['one', 'two', 'three', 'four']) await deploy(result);
  await until('all to be delivered', async () => {
    const all = await deliveriesOf(created);
    return all.length === 4 && all.every(({ status }) => status === 'delivered');
  });
  assert.equal(receiver.messages.length, 4);
  // They are listed in pages, the newest first, for 14 days.
  const list = `${webhooks}/${created.id}/deliveries?limit=3`;
  const first = await okay<{ deliveries: Delivery[]; next: string }>(send('GET', list));
  const second = await okay<{ deliveries: Delivery[] }>(send('GET', `${list}&after=${first.next}`));
  assert.deepEqual(
    [...first.deliveries, ...second.deliveries].map(({ id }) => id),
    receiver.messages.map(({ headers }) => headers['webhook-id']).toReversed(),
  );
  clock.now += 14 * 24 * 60 * 60_000 + 1;
  await until('the deliveries are deleted', async () => (await deliveriesOf(created)).length === 0);
});

/** An empty database with an environment, for webhooks that no service sends to. */
async function startEnvironment(t: TestContext) {
  const storage = await freshStorage(t, engineUnderTest());
  await addEnvironment(storage.db, 'com.acme', 0);
  const add = () =>
    storage.transaction((db) =>
      addWebhook(db, {
        environment: 'com.acme',
        url: 'https://app.acme.com/hooks',
        events: ['plugin.deployed'],
        description: undefined,
        now: 0,
        seal: () => '',
      }),
    );
  return { storage, add };
}

test("a webhook's newest deliveries are kept, and those that are still tried", async (t) => {
  const { storage, add } = await startEnvironment(t);
  const { query } = storage.db;
  const ids: string[] = [];
  for (const count of [3, 610]) {
    const { id } = (await add()) ?? assert.fail();
    ids.push(id);
    await sql`insert into webhook_deliveries (message_id, webhook_id, type, subject, body, created_at, status, tries, attempts, give_up_at)
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      select 'msg_' || n, ${webhookIdToBytes(id)}, 'plugin.deployed', '', '', 1, case n when 2 then 'pending' else 'delivered' end, 1, '[]', 1
      from numbers`.execute(query);
  }
  const [few = '', many = ''] = ids;
  assert.equal(await trimDeliveries(storage.db, few, 10), false);
  assert.equal(await trimDeliveries(storage.db, many, 10), true);
  assert.equal(await trimDeliveries(storage.db, many, 10), false);
  const rows = await query.selectFrom('webhook_deliveries').select('position').orderBy('position').execute();
  const positions = rows.map(({ position }) => position);
  assert.deepEqual([positions.slice(0, 6), positions.length], [[1, 2, 3, 5, 604, 605], 14]);
});

test('a webhook with many deliveries is deleted by short statements', async (t) => {
  const { listen, send, okay, storage } = await startListening(t);
  const { id } = await listen(['plugin.deployed']);
  // None of them is due.
  const at = Date.parse('2096-01-01T00:00:00.000Z');
  const delivery = { webhookId: webhookIdToBytes(id), type: 'plugin.deployed', at, body: '' } as const;
  const deliveries = Array.from({ length: 1100 }, (_, i) => ({ ...delivery, subject: String(i) }));
  await storage.transaction((db) => addDeliveries(db, deliveries));
  const transaction = storage.transaction.bind(storage);
  const left: number[] = [];
  t.mock.method(storage, 'transaction', async (work: Parameters<typeof transaction>[0]) => {
    left.push((await storage.db.query.selectFrom('webhook_deliveries').select('position').execute()).length);
    return transaction(work);
  });
  await okay(send('DELETE', `${webhooks}/${id}`), 204);
  // Others begin transactions, too.
  assert.equal(Math.min(...left), 0);
});

test('a claim looks at the oldest deliveries and at some others, and at none past its time', async (t) => {
  const { storage, add } = await startEnvironment(t);
  const { id } = (await add()) ?? assert.fail();
  const subjects = Array.from({ length: 1201 }, () => 'flood');
  // The first one is past its time, and each of the last two hidden by a flood.
  [subjects[0], subjects[600], subjects[1200]] = ['late', 'between', 'newest'];
  const minute = 60_000;
  const deliveries = subjects.map((subject, i) => ({
    webhookId: webhookIdToBytes(id),
    type: 'plugin.live' as const,
    at: i * minute,
    subject,
    body: '',
  }));
  await storage.transaction((db) => addDeliveries(db, deliveries));
  const day = 24 * 60 * minute;
  const claims: number[][] = [];
  let random = 0;
  t.mock.method(Math, 'random', () => random);
  for (const [i, next] of [0.4, 0, 0.7].entries()) {
    random = next;
    const claim = { now: day + 1 + i, claimedUntil: 2 * day, limit: 4 };
    const claimed = await claimDeliveries(storage.db, id, claim);
    claims.push(claimed.map(({ position }) => position));
  }
  assert.deepEqual(claims, [[2, 601], [], [1201]]);
});

test('a claim takes no more than it may, whatever the database knows of the table', async (t) => {
  const { storage, add } = await startEnvironment(t);
  const { id } = (await add()) ?? assert.fail();
  const addSome = (count: number) =>
    storage.transaction((db) =>
      addDeliveries(
        db,
        Array.from({ length: count }, (_, i) => ({
          webhookId: webhookIdToBytes(id),
          type: 'plugin.live',
          at: 0,
          subject: `${count} ${i}`,
          body: '',
        })),
      ),
    );
  await addSome(1);
  await sql`analyze webhook_deliveries`.execute(storage.db.query);
  await addSome(30);
  const claimed = await claimDeliveries(storage.db, id, { now: 1, claimedUntil: 2, limit: 4 });
  assert.equal(claimed.length, 4);
});

test('deliveries past their time are ended by short statements', async (t) => {
  const { storage, add } = await startEnvironment(t);
  const { id } = (await add()) ?? assert.fail();
  const delivery = {
    webhookId: webhookIdToBytes(id),
    type: 'plugin.live',
    at: 0,
    subject: '',
    body: '',
  } as const;
  await storage.transaction((db) =>
    addDeliveries(
      db,
      Array.from({ length: 700 }, () => delivery),
    ),
  );
  const ended = [];
  for (let i = 0; i < 2; i++) {
    const hasMore = await expireDeliveries(storage.db, 2 * 24 * 60 * 60_000);
    const failed = storage.db.query
      .selectFrom('webhook_deliveries')
      .select('position')
      .where('status', '=', 'failed');
    ended.push([hasMore, (await failed.execute()).length]);
  }
  assert.deepEqual(ended, [
    [true, 500],
    [false, 700],
  ]);
});

test('once a minute old deliveries are looked for, also where that fails, and too many after 100 tries', async (t) => {
  const { storage, add } = await startEnvironment(t);
  const { id } = (await add()) ?? assert.fail();
  const delivery = { webhookId: webhookIdToBytes(id), type: 'plugin.deployed', at: 0, body: '' } as const;
  await storage.transaction((db) =>
    addDeliveries(
      db,
      Array.from({ length: 100 }, (_, i) => ({ ...delivery, subject: String(i) })),
    ),
  );
  const errors: unknown[] = [];
  let time = 1;
  let deletions = 0;
  const failing: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (node.kind === 'DeleteQueryNode' && ++deletions === 1) throw new Error('too slow');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const { db } = storage;
  const sender = new WebhookSender({
    storage: {
      db: { ...db, query: db.query.withPlugin(failing) },
      transaction: (work) => storage.transaction(work),
      isSchemaReady: true,
    },
    guard: { request: async () => ({ status: 204, statusText: '', headers: [], body: new Uint8Array() }) },
    secrets: { open: () => secrets.keys[0]?.toString('base64') ?? '' },
    now: () => time,
    onDisable: async () => {},
    onError: (error) => errors.push(error),
  });
  sender.wake();
  await until('all to be delivered', async () => {
    const pending = db.query
      .selectFrom('webhook_deliveries')
      .select('position')
      .where('status', '=', 'pending');
    return (await pending.execute()).length === 0;
  });
  assert.deepEqual([errors.length, deletions], [1, 1]);
  time += 60_000;
  sender.wake();
  await until('both to be looked for', () => deletions === 3);
  await sender.close();
  assert.equal(errors.length, 1);
});

test('a plugin that fails is told once, and once that it has recovered', async (t) => {
  const { receiver, listen, deploy, build, run, promote, okay } = await startListening(t);
  await listen(['plugin.failing', 'plugin.recovered']);
  await build('export const run = () => { throw new Error("no"); };');
  await okay(promote());
  for (let count = 0; count < 12; count++) assert.equal(await run(), '422 plugin-error');
  await until('the first event', () => receiver.messages.length === 1);
  await deploy('well');
  for (let count = 0; count < 14; count++) assert.equal(await run(), 'well');
  await until('the second event', () => receiver.messages.length === 2);
  assert.deepEqual(receiver.types(), ['plugin.failing', 'plugin.recovered']);
});

test('a webhook hears of failures that began before it, and of no recovery without them', async (t) => {
  const { listen, deploy, deliveriesOf, send, okay, storage, clock } = await startListening(t);
  await deploy('one');
  const { id } = await selectPluginId(storage.db, pluginKey).executeTakeFirstOrThrow();
  const count = async (hasFailed: boolean) => {
    const onError = assert.ifError;
    const health = new PluginHealth({ storage, now: () => clock.now, onEvent: () => {}, onError });
    for (let runs = 0; runs < 10; runs++) health.count(pluginKey, id, hasFailed);
    await health.close();
    clock.now += 10 * 60_000;
  };
  const told = async (webhook: Created) => (await deliveriesOf(webhook)).map(({ type }) => type);
  const events = ['plugin.failing', 'plugin.recovered'];
  const first = await listen(events);
  const other = await listen(['plugin.deployed']);
  const enable = (webhook: Created, enabled: boolean) =>
    okay(send('PATCH', `${webhooks}/${webhook.id}`, { enabled }));
  await count(true);
  assert.deepEqual(await told(first), ['plugin.failing']);
  await enable(first, false);
  await enable(other, false);
  await enable(other, true);
  await enable(first, true);
  await count(true);
  assert.deepEqual(await told(first), ['plugin.failing', 'plugin.failing']);
  await okay(send('DELETE', `${webhooks}/${first.id}`), 204);
  const second = await listen(events);
  await count(false);
  assert.deepEqual(await told(second), []);
  await count(true);
  // A further webhook changes nothing.
  const third = await listen(events);
  await count(false);
  assert.deepEqual(await told(second), ['plugin.recovered', 'plugin.failing']);
  assert.deepEqual(await told(third), ['plugin.recovered']);
});

test('runs that ended while the database was away count once it is back', async (t) => {
  const { listen, deploy, deliveriesOf, send, okay, plugin: at, storage, clock } = await startListening(t);
  const created = await listen(['plugin.failing', 'plugin.recovered', 'plugin.deleted']);
  await deploy('one');
  const { id } = await selectPluginId(storage.db, pluginKey).executeTakeFirstOrThrow();
  let isAway = true;
  const errors: unknown[] = [];
  const health = new PluginHealth({
    storage: {
      isSchemaReady: true,
      transaction: (work) =>
        isAway ? Promise.reject(new StorageUnavailableError(new Error('away'))) : storage.transaction(work),
    },
    now: () => clock.now,
    onEvent: () => {},
    onError: (error) => errors.push(error),
  });
  for (let count = 0; count < 10; count++) health.count(pluginKey, id, true);
  await health.close();
  assert.equal(errors.length, 1);
  isAway = false;
  await health.close();
  const told = async () => (await deliveriesOf(created)).map(({ type }) => type);
  assert.deepEqual(await told(), ['plugin.failing']);
  // Nothing is told of a plugin after its deletion.
  await okay(send('DELETE', at()), 204);
  for (let count = 0; count < 20; count++) health.count(pluginKey, id, false);
  await health.close();
  assert.deepEqual(await told(), ['plugin.deleted', 'plugin.failing']);
});

test('an event is told whatever the name of its plugin', async (t) => {
  const storage = await freshStorage(t, engineUnderTest());
  const { environment } = pluginKey;
  await addEnvironment(storage.db, environment, 0);
  const created = {
    url: 'https://app.acme.com/',
    events: ['plugin.failing'],
    description: undefined,
  } as const;
  await storage.transaction(async (db) => {
    await addWebhook(db, { environment, ...created, now: 0, seal: () => '' });
    const target = { ...pluginKey, pluginName: longName };
    await tellWebhooks(db, { type: 'plugin.failing', at: 0, target });
  });
  const { body } = await storage.db.query
    .selectFrom('webhook_deliveries')
    .select('body')
    .executeTakeFirstOrThrow();
  assert.equal((JSON.parse(body) as { data: { name: string } }).data.name, longName);
});

test('the runs of many plugins are counted by a few statements, in transactions of a bounded length', async (t) => {
  const { listen, storage, clock } = await startListening(t);
  await listen(['plugin.failing']);
  let statements = 0;
  let transactions = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const health = new PluginHealth({
    storage: {
      isSchemaReady: true,
      transaction: (work) => {
        transactions += 1;
        return storage.transaction(({ query, ...db }) => work({ ...db, query: query.withPlugin(counting) }));
      },
    },
    now: () => clock.now,
    onEvent: () => {},
    onError: assert.ifError,
  });
  const ids = Array.from({ length: 1000 }, (_, i) => 1_000_000 + i);
  for (let round = 1; round <= 2; round++) {
    for (const id of ids) health.count({ ...pluginKey, pluginName: `p${id}` }, id, false);
    await health.close();
    const { rows } = await sql<{ plugins: number; runs: number | string }>`
      select count(*) as plugins, sum(runs) as runs from plugin_run_counts`.execute(storage.db.query);
    assert.deepEqual([rows[0]?.plugins, Number(rows[0]?.runs)], [1000, 1000 * round]);
  }
  assert.equal(transactions, 8);
  assert.ok(statements <= 5 * transactions, `${statements}`);
});

test('the environment, and then the webhook, with the fewest tries in progress gets the next place', () => {
  const [a, b, c] = ['com.a', 'com.b', 'com.c'].map((environment) => ({ id: environment, environment }));
  assert.ok(a && b && c);
  assert.deepEqual(inFairOrder([a, b, c, a], [a, b, a]), [c, b, a, a]);
  const other = { ...a, id: 'other' };
  assert.deepEqual(inFairOrder([a, other], [a]), [other, a]);
});

for (const processes of [1, 2, 4]) {
  test(`receivers that hang leave a place for each other webhook of their environment, of ${processes} processes`, () => {
    const webhooksOf = (environment: string, enabled: number) =>
      Array.from({ length: enabled }, (_, i) => ({ id: `${environment} ${i}`, environment, enabled }));
    const sending: { id: string; environment: string }[] = [];
    const fill = (webhook: { id: string; environment: string; enabled: number }) => {
      const free = Math.max(0, freePlaces(webhook, sending, processes));
      sending.push(...Array<typeof webhook>(free).fill(webhook));
      return free;
    };
    for (const environment of ['com.a', 'com.b']) {
      const [first, ...others] = webhooksOf(environment, 10);
      assert.ok(first);
      assert.equal(fill(first), { 1: 4, 2: 1, 4: 1 }[processes]);
      assert.equal(fill(first), 0);
      for (const webhook of others)
        if (sending.length < 64 / processes) assert.ok(fill(webhook) > 0, webhook.id);
    }
    sending.length = 0;
    const [alone] = webhooksOf('com.c', 1);
    assert.equal(alone && fill(alone), 4 / processes);
  });
}

test('the time between two tries doubles up to an hour, for a day', () => {
  const day = 24 * 60 * 60_000;
  const times = [];
  for (let now = 0, tries = 1; ; tries++) {
    const next = nextTry(tries, now, day);
    if (next === undefined) break;
    times.push((next - now) / 1000);
    now = next;
  }
  assert.deepEqual(times.slice(0, 12), [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
  assert.ok(times.reduce((sum, time) => sum + time, 0) * 1000 <= day);
});

test('a plugin fails when half of ten runs or more do', () => {
  for (const [runs, failures, fails] of [
    [9, 9, undefined],
    [10, 5, true],
    [10, 4, false],
    [11, 5, false],
    [100, 50, true],
  ] as const)
    assert.equal(isFailing({ runs, failures }), fails, `${failures} of ${runs}`);
});
