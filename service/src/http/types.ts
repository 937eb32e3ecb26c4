import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { declarationsIn } from './declarations.ts';
import { schemaInResponse, namespaceSchema } from './environment/namespace-details.ts';
import { json } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import { grantedOrigin } from '../outbound/grants.ts';
import type { Connection } from '../plugins/connections.ts';
import type { LibraryInterface } from '../plugins/libraries.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { areTyped } from '../plugins/schemas.ts';
import type { Storage } from '../storage/storage.ts';
import { findConnectionValues } from '../storage/tables/connection-values.ts';
import { findDeclaredNamespace } from '../storage/tables/namespaces.ts';
import { connectionSchema } from './environment/connection-details.ts';

/** How many exports of a library are named. */
const namedExports = 100;

const librarySchema = z
  .object({
    name: z.string().meta({ examples: ['decimal.js'] }),
    version: z.string().meta({ examples: ['10.6.0'] }),
    description: z.string().optional(),
    exports: z.array(z.string()).meta({
      description: `The first ${namedExports} names that it exports; \`default\` for a default export.`,
      examples: [['Decimal', 'default']],
    }),
  })
  .meta({ id: 'ImportableLibrary' });

const typesResponse = z
  .object({
    declarations: z.string().meta({
      description:
        'TypeScript: `Input`, `Output` and what they are made of, as global types. Empty if plugins take and return text.',
      examples: ['type Input = { total: number };\ntype Output = { discount: number };\n'],
    }),
    input: schemaInResponse.optional(),
    output: schemaInResponse.optional(),
    samples: namespaceSchema.shape.samples,
    connections: z
      .array(connectionSchema.omit({ credential: true }).meta({ id: 'ReachableConnection' }))
      .optional()
      .meta({
        description:
          'What `fetch` may reach. `origin` is the one of the tenant, or has a `*` if the tenant has none yet.',
      }),
    libraries: z
      .array(librarySchema)
      .optional()
      .meta({ description: 'What plugins in JavaScript and TypeScript may import.' }),
  })
  .meta({ id: 'Types' });

/** The types of a plugin's input and output, for whoever writes it. */
export const types: ServiceInterface = {
  operations: [
    operation({
      id: 'getTypes',
      method: 'GET',
      path: '/api/v1/types/:ident/:namespace/:name',
      summary: 'Read the types of a plugin’s input and output',
      description: 'They are the types of its namespace. The plugin need not exist.',
      tag: 'types',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'read',
      query: z.object({
        language: z.enum(['typescript', 'python']).optional().meta({
          description:
            'The language of `declarations`; by default `typescript`. In Python they are `TypedDict`s.',
        }),
      }),
      responses: { 200: json(typesResponse, { description: 'The types, and samples.' }) },
      handle: async ({ c, target, query }, context) => {
        const { storage } = context;
        const found = await findDeclaredNamespace(storage.db, target);
        if (!found) return { status: 200, body: { declarations: '' } };
        const reached = await reachable(storage, target, found.details.connections);
        const granted = {
          ...(reached.length && { connections: reached }),
          ...(found.libraries.length && { libraries: found.libraries.map(toImportable) }),
        };
        if (!areTyped(found.details)) return { status: 200, body: { declarations: '', ...granted } };
        const { input, output, samples } = found.details;
        const schemas = { input, output };
        const declarations =
          query.language === 'python'
            ? await declarationsIn(context, 'python', target, schemas, c.req.raw.signal)
            : found.declarations;
        const body = {
          declarations,
          ...(input !== undefined && { input }),
          ...(output !== undefined && { output }),
          ...(samples && { samples }),
          ...granted,
        };
        return { status: 200, body };
      },
    }),
  ],
};

const toImportable = ({ name, version, description, exports }: LibraryInterface) => ({
  name,
  version,
  ...(description !== undefined && { description }),
  exports: exports.slice(0, namedExports),
});

/** What a plugin may reach, without the credentials. A wildcard grants only the origin that the tenant has for it. */
export async function reachable(
  { db }: Storage,
  target: Pick<PluginKey, 'environment' | 'namespace'> & { readonly tenant?: string },
  connections: readonly Connection[] = [],
) {
  const { tenant } = target;
  const described = connections.map(async (connection) => {
    const { name, description, origin, pathPrefix, methods } = connection;
    const granted = await grantedOrigin(connection, async () => {
      if (tenant === undefined) return undefined;
      return (await findConnectionValues(db, { ...target, tenant }, name))?.tenant?.origin;
    });
    return {
      name,
      ...(description !== undefined && { description }),
      origin: granted ?? origin,
      ...(pathPrefix !== undefined && { pathPrefix }),
      ...(methods && { methods }),
    };
  });
  return Promise.all(described);
}
