import * as z from 'zod';
import { longestLibraryName, longestVersion, maxLibraries, semver } from '../../plugins/libraries.ts';
import { connectionsSchema } from './connection-details.ts';

/** How long both schemas of a namespace may be together, in bytes of their JSON. */
export const schemasLimit = 64 * 1024;

/** How long the details of a namespace may be, in bytes of JSON. */
export const detailsLimit = 256 * 1024;

const [maxSamples, longestName, longestDescription] = [100, 200, 4000];

const isSchema = (value: unknown) =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

// Only the type is checked here. `read-schema.ts` checks the rest, with better messages.
const schema = (description: string) =>
  z
    .unknown()
    .refine(
      (value) => value === undefined || isSchema(value),
      'must be a JSON Schema: an object, true or false',
    )
    .meta({ description, override: { type: ['object', 'boolean'] } });

/** A schema in a response. */
export const schemaInResponse = z.unknown().meta({
  description: 'A JSON Schema (2020-12); if it is missing, any JSON.',
  override: { type: ['object', 'boolean'] },
});

const text = (max: number) => z.string().max(max);

const sample = z
  .object({
    name: text(longestName).min(1),
    description: text(longestDescription).optional(),
    input: z.unknown(),
    output: z.unknown().optional(),
  })
  .meta({ description: 'An input, and the output that belongs to it; each must fit its schema.' });

const details = {
  description: text(longestDescription).optional(),
  input: schema('The JSON Schema (2020-12) of the input; without it, any JSON.').optional(),
  output: schema('The JSON Schema (2020-12) of the output; without it, any JSON.').optional(),
  samples: z
    .array(sample)
    .max(maxSamples)
    .optional()
    .meta({ description: 'Examples, which become the tests of new plugins.' }),
  templates: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'The sources of new plugins, by language.' }),
};

const example = {
  description: 'Called for each order that comes in.',
  input: {
    type: 'object',
    properties: { total: { type: 'number', description: 'In euros.' } },
    required: ['total'],
  },
  output: { type: 'object', properties: { discount: { type: 'number' } }, required: ['discount'] },
  samples: [{ name: 'a small order', input: { total: 20 }, output: { discount: 0 } }],
};

const name = z
  .string()
  .max(longestLibraryName)
  .regex(/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/, 'must be the name of an npm package');

const librariesSchema = z
  .record(name, z.string().max(longestVersion).regex(semver, 'must be a semantic version, such as 10.6.0'))
  .refine((value) => Object.keys(value).length <= maxLibraries, `must name at most ${maxLibraries}`)
  .meta({ examples: [{ 'decimal.js': '10.6.0' }] });

const granted = {
  connections: connectionsSchema.optional().meta({ description: 'What its plugins may reach.' }),
  libraries: librariesSchema
    .optional()
    .meta({ description: 'What its plugins may import: versions of libraries, by their names.' }),
};

/** The details of a namespace, as vendors send them. */
export const namespaceDetailsSchema = z
  .object({
    ...details,
    connections: connectionsSchema.nullable().optional().meta({
      description:
        'What its plugins may reach. If the field is missing, what is there stays; `null` removes it.',
    }),
    libraries: librariesSchema.nullable().optional().meta({
      description:
        'What its plugins may import: versions of libraries, by their names. If the field is missing, what is there stays; `null` removes it.',
    }),
  })
  .meta({ id: 'NamespaceDetails', examples: [example] });

/** The details of a namespace with its name, in a response. */
export const namespaceSchema = z
  .object({ namespace: z.string(), ...details, ...granted })
  .meta({ id: 'Namespace', examples: [{ namespace: 'orders', ...example }] });

/** The response to a namespace that was set. */
export const setNamespaceSchema = z
  .object({
    namespace: z.string(),
    ...details,
    ...granted,
    warnings: z.array(z.object({ path: z.string(), message: z.string() })).meta({
      description:
        'What is legal and probably wrong: an unknown keyword or format, and parts of an input that allow other properties. `path` is a JSON Pointer into the record. At most 50 for each schema.',
    }),
  })
  .meta({ id: 'SetNamespace', examples: [{ namespace: 'orders', ...example, warnings: [] }] });
