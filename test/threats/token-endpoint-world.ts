import type { TestContext } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { AccessClient } from '../../src/server/access-client.ts';
import { type NodeContext, toNodeHandler } from '../../src/server/to-node-handler.ts';
import { createTokenEndpoint } from '../../src/server/token-endpoint.ts';
import {
  type RawResponse,
  type RawRequest,
  listen as listenWith,
  rawRequest,
} from '../server/raw-request.ts';
import { startWithPlugins } from './service-plugins.ts';

/** The tenant of the only user who is signed in. */
export const OWN_IDENT = 'com.acme.t1';
const SESSION = 'session=ada';

/** A plugin that the service gave a token for. */
export interface Granted {
  ident: string;
  namespace: string;
  fn: string;
}

/**
 * One endpoint behind each of the servers that the documentation shows, in front of the real service. Every request is
 * of a page of the endpoint's own origin, by a user who is signed in, unless its headers say otherwise.
 */
export async function startTokenServers(t: TestContext) {
  const { storage, port: servicePort, environmentToken } = await startWithPlugins(t);
  const secret = await environmentToken('com.acme');
  const granted: Granted[] = [];
  const { editorTokens } = storage.tables;
  const add = editorTokens.add.bind(editorTokens);
  t.mock.method(editorTokens, 'add', async (...[token, editorToken, ...times]: Parameters<typeof add>) => {
    const { environment, tenant, namespace = '', pluginName = '' } = editorToken.scope;
    const isAdded = await add(token, editorToken, ...times);
    // The first of a tenant is refused, until the tenant is there.
    if (isAdded) granted.push({ ident: `${environment}.${tenant}`, namespace, fn: pluginName });
    return isAdded;
  });

  const access = new AccessClient({
    builderUrl: `http://127.0.0.1:${servicePort}`,
    environmentToken: secret,
  });
  const identOf = (cookie: string | null | undefined) => (cookie === SESSION ? OWN_IDENT : false);
  const onNode = createTokenEndpoint<NodeContext>({
    access,
    authorize: (_, __, { req }) => identOf(req.headers.cookie),
  });
  const onHono = createTokenEndpoint({ access, authorize: ({ headers }) => identOf(headers.get('cookie')) });

  const inExpress = express().use(express.json()).all('/token', toNodeHandler(onNode));
  // Else it prints each body that it refuses.
  inExpress.set('env', 'test');
  const inHono = new Hono().all('/token', (c) => onHono(c.req.raw));
  const honoListener = getRequestListener(inHono.fetch, { overrideGlobalObjects: false });
  const handlers = [
    ['node:http', toNodeHandler(onNode)],
    ['Express', inExpress],
    ['Hono', (req, res) => void honoListener(req, res)],
  ] as const satisfies [string, Parameters<typeof listenWith>[0]][];

  const servers = await Promise.all(
    handlers.map(async ([name, handler]) => {
      const server = await listenWith(handler);
      t.after(() => server[Symbol.asyncDispose]());
      const { port } = server;
      const sendRequest = (request: RawRequest): Promise<RawResponse> =>
        rawRequest(port, { ...request, headers: { cookie: SESSION, ...request.headers } });
      return { name, port, sendRequest };
    }),
  );
  return { servers, granted, secret, session: SESSION };
}
