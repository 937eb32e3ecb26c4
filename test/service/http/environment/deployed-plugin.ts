import type { TestContext } from 'node:test';
import type { ServiceOptions } from '../../../../service/src/http/create-service.ts';
import { bearer } from '../../harness.ts';
import { startVendor } from './vendor.ts';
import type { SessionResponse } from './vendor.ts';

/** A plugin as it is answered. */
export interface PluginDetails {
  name: string;
  namespace: string;
  draft: { revision: string; savedAt: string; actor?: string } | null;
  built: boolean;
  live: string | null;
  latest: string | null;
  pinned: { version: string; at: string; actor?: string } | null;
  versions: number;
}

export interface Deployed {
  version: string;
  unchanged?: boolean;
  live: string;
}

/** A vendor with a plugin, and what its author does with it. */
export async function startAuthor(
  t: TestContext,
  session: object = { actor: 'ada' },
  options: Partial<ServiceOptions> = {},
) {
  const vendor = await startVendor(t, options);
  const { fetch, okay, startSession } = vendor;
  const { token }: SessionResponse = await startSession('com.acme.t1', session);
  const at = (name = 'add-record', namespace = 'default') => `com.acme.t1/${namespace}/${name}`;
  const text = { 'content-type': 'text/plain' };
  const author = {
    token,
    /** The path of the plugin among the operations for vendors. */
    plugin: (name?: string, namespace?: string) => `/api/v1/plugin/${at(name, namespace)}`,
    build: (contents: string, name?: string, namespace?: string) =>
      okay(
        fetch(`/api/v1/build/javascript/${at(name, namespace)}`, {
          method: 'POST',
          headers: { ...bearer(token), ...text },
          body: contents,
        }),
      ),
    promote: (body?: string | object, name?: string, headers: Record<string, string> = {}) =>
      fetch(`/api/v1/draft/${at(name)}/promote`, {
        method: 'POST',
        headers: {
          ...bearer(token),
          ...(typeof body === 'object' && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    /** Builds and deploys a plugin that answers with a text. */
    deploy: async (result: string, message?: string, name?: string) => {
      await author.build(`export const run = () => ${JSON.stringify(result)};`, name);
      return okay<Deployed>(author.promote(message === undefined ? undefined : { message }, name));
    },
    /** What the live version answers, or the refusal. */
    run: async (name?: string, version?: string) => {
      const path = version ? `/exec/${at(name)}/${version}` : `/exec/name/${at(name)}`;
      const response = await fetch(path, {
        method: 'POST',
        headers: { ...bearer(vendor.environmentToken), ...text },
      });
      return response.status === 200 ? response.text() : vendor.refusal(response);
    },
  };
  return { ...vendor, ...author };
}
