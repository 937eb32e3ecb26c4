import type { TestContext } from 'node:test';
import { OutboundCalls } from '../../../service/src/outbound/calls.ts';
import type { OutboundCallsOptions } from '../../../service/src/outbound/calls.ts';
import { Guard } from '../../../service/src/outbound/guard.ts';
import { Identity } from '../../../service/src/outbound/identity.ts';
import type { CallContext } from '../../../service/src/outbound/outbound.ts';
import { Secrets } from '../../../service/src/outbound/secrets.ts';
import type { GuestRequest } from '../../../service/src/sandbox/run-calls.ts';
import type { ServiceOptions } from '../../../service/src/http/create-service.ts';
import { bearer, startService } from '../harness.ts';
import { cleanUpFirst } from '../storage/databases.ts';

export const secretsKey = Buffer.alloc(32, 7);

/** A service whose secrets have a key, and how to set what its plugins may reach. */
export async function startConnectedService(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const running = await startService(t, { secrets: { keys: [secretsKey] }, ...options });
  const token = await running.environmentToken();
  /** Sends a request with the environment's token, and returns the status and the JSON of the response. */
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await running.fetch(path, {
      method,
      headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} };
  };
  const setNamespace = (record: object, namespace = 'default') =>
    ask('PUT', `/api/v1/environment/com.acme/namespaces/${namespace}`, record);
  const setValue = (value: object, connection: string, owner = 'tenant/com.acme.t1') =>
    ask('PUT', `/api/v1/${owner}/connections/default/${connection}`, value);
  await ask('POST', '/api/v1/tenant/com.acme.t1');
  return { ...running, token, ask, setNamespace, setValue };
}

export type ConnectedService = Awaited<ReturnType<typeof startConnectedService>>;

const signal = new AbortController().signal;

export const run: CallContext = {
  plugin: { environment: 'com.acme', tenant: 't1', namespace: 'default', pluginName: 'add-record' },
  version: 'v1.0.0',
  runId: '019a0b2c-4d5e-7f60-8123-456789abcdef',
  isTest: false,
};

/** What makes the requests of the plugins of a service; `allow`: the origins that tests serve. */
export function startCalls(
  t: TestContext,
  { storage, clock }: Pick<ConnectedService, 'storage' | 'clock'>,
  allow: readonly string[],
  options: Partial<OutboundCallsOptions> = {},
) {
  const now = () => clock.now;
  const secrets = new Secrets({ keys: [secretsKey] });
  const guard = new Guard({ allow, resolve: async () => ['127.0.0.1'] });
  const identity = new Identity(storage, secrets, now);
  const calls = new OutboundCalls({
    storage,
    guard,
    secrets,
    identity,
    issuer: () => 'https://plugins.example.com',
    now,
    leaseTimeout: 30_000,
    timeout: 60_000,
    ...options,
  });
  cleanUpFirst(t, async () => {
    calls.close();
    await guard.close();
  });
  const call = (request: Partial<GuestRequest> & { url: string }, context = run, aborted = signal) =>
    calls.call({ method: 'GET', headers: [], ...request }, context, aborted);
  return { calls, call, identity };
}
