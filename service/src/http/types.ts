import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { schemaInResponse, namespaceSchema } from './environment/namespace-details.ts';
import { json } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import { areTyped } from '../plugins/schemas.ts';
import { findNamespace, readDeclarations } from '../storage/tables/namespaces.ts';

const typesResponse = z
  .object({
    declarations: z.string().meta({
      description:
        'TypeScript: `Input`, `Output` and what they are made of, as global types. Empty where plugins take and give text.',
      examples: ['type Input = { total: number };\ntype Output = { discount: number };\n'],
    }),
    input: schemaInResponse.optional(),
    output: schemaInResponse.optional(),
    samples: namespaceSchema.shape.samples,
  })
  .meta({ id: 'Types' });

/** The types of a plugin's input and output, for whoever writes it. */
export const types: ServiceInterface = {
  operations: [
    operation({
      id: 'getTypes',
      method: 'GET',
      path: '/api/v1/types/:ident/:namespace/:name',
      summary: 'The types of a plugin’s input and output',
      description: 'By the types of its namespace; the plugin need not be there yet.',
      tag: 'types',
      auth: 'editor-or-environment',
      permission: 'read',
      responses: { 200: json(typesResponse, { description: 'The types, and samples.' }) },
      handle: async ({ target }, { storage }) => {
        const found = await findNamespace(storage.db, target);
        if (!found || !areTyped(found.details)) return { status: 200, body: { declarations: '' } };
        const { input, output, samples } = found.details;
        const declarations = await readDeclarations(storage.db, target);
        const body = {
          declarations,
          ...(input !== undefined && { input }),
          ...(output !== undefined && { output }),
          ...(samples && { samples }),
        };
        return { status: 200, body };
      },
    }),
  ],
};
