import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../../../service/src/http/create-service.ts';
import { bearer, errorOf, source, startService } from '../../harness.ts';
import { openDuring, patientStorage } from '../../storage/databases.ts';

export interface SessionResponse {
  token: string;
  expires_in: number;
  permissions: string[];
  actor?: string;
}

export const draftOf = (ident: string, name = 'add-record', namespace = 'default') =>
  `/api/v1/draft/${ident}/${namespace}/${name}`;

export type Vendor = Awaited<ReturnType<typeof startVendor>>;

/** A vendor's back end, with the service that it asks; and how to start another node on the same database. */
export async function startVendor(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const node = await startService(t, options);
  const environmentToken = await node.environmentToken();
  const sender =
    (fetch: typeof node.fetch) =>
    (method: string, path: string, body?: unknown, token = environmentToken) =>
      fetch(path, {
        method,
        headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
  const send = sender(node.fetch);
  const okay = async <T>(response: Response | Promise<Response>, status = 200): Promise<T> => {
    const { status: actual } = await response;
    const body = await (await response).text();
    assert.equal(actual, status, body);
    return (body ? JSON.parse(body) : undefined) as T;
  };
  const startSession = (ident: string, grant: object = {}) =>
    okay<SessionResponse>(send('POST', `/api/v1/tenant/${ident}/session`, grant), 201);
  return {
    ...node,
    environmentToken,
    send,
    okay,
    startSession,
    /** The status and code of a refusal. */
    refusal: async (response: Response | Promise<Response>) => {
      const { status, code } = await errorOf(await response);
      return `${status} ${code}`;
    },
    /** Saves the first draft of a plugin, and returns a token for all of its tenant. */
    createPlugin: async (ident: string, name = 'add-record') => {
      const { token } = await startSession(ident);
      await okay(node.save(token, source, {}, draftOf(ident, name)));
      return token;
    },
    /** Another node, on the same database and by the same clock. */
    startNode: async () => {
      const storage = await openDuring(t, node.address, patientStorage);
      const other = await startService(t, { ...options, storage, now: () => node.clock.now });
      return { ...other, send: sender(other.fetch) };
    },
  };
}
