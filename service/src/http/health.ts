import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { json, respond } from './operations/responses.ts';
import { operation } from './operations/operation.ts';

const draining = z.literal(true).optional().meta({ description: 'The service is shutting down.' });

const readiness = z
  .object({
    ready: z.boolean(),
    draining,
    database: z.boolean().optional().meta({ description: 'The database answers.' }),
    schema: z.boolean().optional().meta({ description: 'Its schema is the one that this release needs.' }),
    sandbox: z.boolean().optional().meta({ description: 'Plugins can run.' }),
  })
  .meta({ id: 'Readiness' });

/** `/healthz`, which responds while the process lives, and `/readyz`, which is 503 while requests should go elsewhere. */
export const health: ServiceInterface = {
  operations: [
    operation({
      id: 'getHealth',
      method: 'GET',
      path: '/healthz',
      summary: 'Check that the process is alive',
      tag: 'service',
      auth: 'monitor',
      responses: {
        200: json(z.object({ alive: z.literal(true), draining }), { description: 'The process is alive.' }),
      },
      // Some proxies cannot retry a run that found the port closed. From the body they learn in time that it will be closed.
      handle: (_, { isDraining }) =>
        respond(200, { alive: true as const, ...(isDraining() && { draining: true as const }) }),
    }),
    operation({
      id: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      summary: 'Check that the service is ready for requests',
      tag: 'service',
      auth: 'monitor',
      responses: {
        200: json(readiness, { description: 'The service is ready for requests.' }),
        503: json(readiness, {
          description: 'The service is not ready: send requests to another node. The response says why.',
        }),
      },
      handle: async (_, context) => {
        const body = await context.readiness();
        return { status: body.ready ? 200 : 503, body };
      },
    }),
  ],
};
