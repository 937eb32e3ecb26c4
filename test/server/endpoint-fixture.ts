import type { Rule } from '../support/scripted-server-rules.ts';
import { startScriptedServer } from '../support/scripted-server-node.ts';
import { AccessClient } from '../../src/server/access-client.ts';
import { createTokenEndpoint, type TokenEndpointOptions } from '../../src/server/token-endpoint.ts';

export const ENVIRONMENT_TOKEN = 'environment-secret-5f1c';
export const IDENT = 'com.acme.customer-7';
export const FIELDS = { ident: IDENT, namespace: 'default', fn: 'add-record' };

/** The origin of the endpoint in these tests, and an allowed one. */
export const OWN = 'https://app.example';
export const PARTNER = 'https://partner.example';
export const ADDRESS = `${OWN}/plugins/editor-token`;

export const TOKEN_RULE: Rule = { path: '/auth/*', json: { token: 'editor-1' } };

/** A request of a page on the origin of the endpoint. Headers that are `undefined` are left out. */
export function pageRequest(
  body: unknown = FIELDS,
  headers: Record<string, string | undefined> = {},
  init: RequestInit = {},
): Request {
  const all = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
  return new Request(ADDRESS, {
    method: 'POST',
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
    ...init,
    headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  });
}

export interface Read {
  status: number;
  headers: Headers;
  body: unknown;
  /** The `code` of an error. */
  code: string | undefined;
  message: string;
}

export async function readResponse(response: Response): Promise<Read> {
  const { status, headers } = response;
  const text = await response.text();
  const body: unknown = text && headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  const { code, message = '' } = (body as { error?: { code?: string; message?: string } }).error ?? {};
  return { status, headers, body, code, message };
}

/** An endpoint in front of a scripted builder, with all errors that were passed to `onError`. */
export async function startEndpoint(
  options: Partial<TokenEndpointOptions> = {},
  ...rules: Rule[]
): Promise<Endpoint> {
  const builder = await startScriptedServer(...(rules.length > 0 ? rules : [TOKEN_RULE]));
  const errors: unknown[] = [];
  const access = new AccessClient({
    builderUrl: builder.url(),
    environmentToken: ENVIRONMENT_TOKEN,
    retry: 0,
  });
  const endpoint = createTokenEndpoint({
    access,
    authorize: () => IDENT,
    onError: (error) => void errors.push(error),
    ...options,
  });
  return {
    builder,
    access,
    endpoint,
    errors,
    sendRequest: async (...request) => readResponse(await endpoint(pageRequest(...request))),
    builderRequests: () => builder.requests(),
    [Symbol.asyncDispose]: () => builder[Symbol.asyncDispose](),
  };
}

export interface Endpoint extends AsyncDisposable {
  builder: Awaited<ReturnType<typeof startScriptedServer>>;
  access: AccessClient;
  endpoint: ReturnType<typeof createTokenEndpoint>;
  errors: unknown[];
  sendRequest: (...request: Parameters<typeof pageRequest>) => Promise<Read>;
  builderRequests: () => ReturnType<Endpoint['builder']['requests']>;
}
