import * as z from 'zod';
import { methodsOfConnections } from '../../plugins/connections.ts';
import type { Connection } from '../../plugins/connections.ts';
import { canOverlap, findOriginProblem, findPrefixProblem } from '../../outbound/grants.ts';
import { isForbiddenHeader, isHeaderName, isHeaderValue } from '../../outbound/headers.ts';
import type { Guard } from '../../outbound/guard.ts';
import { invalidNamespace } from './compile-namespace.ts';

/** How many connections a namespace may have. */
export const maxConnections = 20;

/** How long a value may be, in bytes. */
export const maxValueBytes = 8 * 1024;

const [longestDescription, longestOrigin, longestPrefix] = [4000, 300, 1000];

const headerCredential = z.object({
  type: z.literal('header'),
  header: z
    .string()
    .refine(isHeaderName, 'must be the name of a header')
    .refine((name) => !isForbiddenHeader(name), 'must be a header that a credential may set')
    .meta({ description: 'Its name, such as `authorization`.' }),
  prefix: z
    .string()
    .max(longestPrefix)
    .refine((prefix) => isHeaderValue(`${prefix}x`), 'must be what a header may hold before a value')
    .optional()
    .meta({ description: 'What comes before the value, such as `Bearer `.' }),
});

export const connectionSchema = z
  .object({
    name: z
      .string()
      .regex(/^[a-z][A-Za-z0-9]{0,39}$/, 'must be 1 to 40 letters and digits, the first one a small letter')
      .meta({
        description: '1 to 40 letters and digits, the first a small letter; unique in the namespace.',
      }),
    description: z.string().max(longestDescription).optional(),
    origin: z.string().max(longestOrigin).meta({
      description:
        '`https://host[:port]`; or `https://*.example.com`, for which each tenant sets its own origin.',
    }),
    pathPrefix: z
      .string()
      .max(longestPrefix)
      .optional()
      .meta({ description: 'The beginning of the paths, which matches whole segments; by default `/`.' }),
    methods: z
      .array(z.enum(methodsOfConnections))
      .min(1)
      .max(methodsOfConnections.length)
      .optional()
      .meta({ description: 'By default only `GET`.' }),
    credential: z
      .discriminatedUnion('type', [headerCredential, z.object({ type: z.literal('identity') })])
      .optional()
      .meta({
        description:
          'What the service adds to each request: `header`, a header with the stored value; or `identity`, a signed token that says which plugin asks.',
      }),
  })
  .meta({
    id: 'Connection',
    description: 'Requests that the plugins of the namespace may make.',
    examples: [
      {
        name: 'rates',
        origin: 'https://api.example.com',
        pathPrefix: '/v1',
        credential: { type: 'header', header: 'authorization', prefix: 'Bearer ' },
      },
    ],
  });

export const connectionsSchema = z.array(connectionSchema).max(maxConnections);

/** Throws 422 where a connection can match nothing, could match what another one does, or leads where none may. */
export function checkConnections(connections: readonly Connection[], guard: Guard): void {
  connections.forEach((connection, i) => {
    const refuse = (field: string, message: string) =>
      invalidNamespace(['connections', String(i), field], message);
    const { name, origin, pathPrefix } = connection;
    const problem = findOriginProblem(origin);
    if (problem !== undefined) throw refuse('origin', `must ${problem}`);
    // A wildcard stands for any label.
    const refusal = guard.refusal(origin.replace('*', '_'));
    if (refusal !== undefined) throw refuse('origin', refusal);
    const wrongPrefix = pathPrefix === undefined ? undefined : findPrefixProblem(pathPrefix);
    if (wrongPrefix !== undefined) throw refuse('pathPrefix', `must ${wrongPrefix}`);
    for (const before of connections.slice(0, i)) {
      if (before.name === name) throw refuse('name', `must be unique: "${name}" is there twice`);
      if (canOverlap(before, connection))
        throw refuse(
          'origin',
          `must not overlap with "${before.name}": a request could match both connections`,
        );
    }
  });
}
