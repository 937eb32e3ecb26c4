import * as z from 'zod';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import { libraryName, longestLibraryName, longestVersion, semver } from '../../plugins/libraries.ts';
import type { ErrorList } from '../error-codes.ts';

/** A parameter of a path. */
interface PathParameter {
  /** Describes values in the document. With a `mismatch` it also validates them; otherwise the checks of `checkPath` suffice. */
  readonly schema: z.ZodType<string>;
  /** The message for a value that does not fit `schema`; it follows the name of the parameter. */
  readonly mismatch?: string;
  /** The error codes that every operation with the parameter can respond with, for values that fit `schema`. */
  readonly errors?: ErrorList;
}

/** Any text but an empty one, `.` and `..`, and without U+0000. */
const name = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .meta({ description, examples: [example] });

const identifier: PathParameter = {
  schema: z
    .string()
    .regex(/^[^]+\.[^.]+$/)
    .meta({
      description: 'An environment, a period and a tenant. The tenant is what follows the last period.',
      examples: ['com.acme.customer-7'],
    }),
  mismatch: 'must be an environment, a period and a tenant',
};

const namespace: PathParameter = { schema: name('The namespace of a plugin.', 'default') };
const library: PathParameter = {
  schema: z
    .string()
    .regex(libraryName)
    .max(longestLibraryName)
    .meta({ description: 'The name of a library.', examples: ['decimal.js'] }),
  mismatch: 'must be the name of an npm package, such as decimal.js',
};
const plugin: PathParameter = { schema: name('The name of a plugin.', 'add-record') };

/**
 * The parameters of all paths by their names. A name means the same in every path, so that the target of a path follows from
 * the names of its parameters.
 */
const pathParameters = {
  identifier,
  ident: identifier,
  environment: { schema: name('The name of an environment.', 'com.acme') },
  namespace,
  pluginName: plugin,
  name: plugin,
  ext: plugin,
  language: {
    schema: name('The `identifier` of a language in the features.', 'typescript'),
    errors: { 404: ['unknown-language'] },
  },
  library,
  scope: {
    schema: z
      .string()
      .regex(/^@[a-z0-9~-][a-z0-9._~-]*$/)
      .meta({ description: 'The scope of a library’s name.', examples: ['@acme'] }),
    mismatch: 'must be that of an npm package, such as @acme',
  },
  libraryVersion: {
    schema: z
      .string()
      .regex(semver)
      .max(longestVersion)
      .meta({
        description: 'A version of a library.',
        examples: ['10.6.0'],
      }),
    mismatch: 'must be a semantic version, such as 10.6.0',
  },
  connection: { schema: name('The name of a connection of the namespace.', 'rates') },
  id: {
    schema: name('The id of an environment token or a webhook.', '019a0b2c-4d5e-7f60-8123-456789abcdef'),
  },
  delivery: { schema: name('The id of a delivery.', 'msg_019a0b2c4d5e7f608123456789abcdef') },
  version: {
    schema: z
      .string()
      .regex(/^v\d+\.\d+\.\d+$/)
      .meta({ description: 'A version of a plugin.', examples: ['v1.0.0'] }),
    mismatch: 'must be of the form v1.0.0',
  },
  uuid: {
    schema: z.uuid().meta({ description: 'The id of a run: `x-request-id` of its response.' }),
    mismatch: 'must be a UUID',
  },
} as const satisfies Readonly<Record<string, PathParameter>>;

export type PathParameterName = keyof typeof pathParameters;

export const pathParameter = (parameter: PathParameterName): PathParameter => pathParameters[parameter];

/** The names of the parameters in a path such as `/api/v1/template/:language`. */
export type NamesIn<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** The names of the parameters in a path, in their order. */
export const namesIn = (path: string): readonly PathParameterName[] =>
  [...path.matchAll(/\/:(\w+)/g)].map(([, found]) => found as PathParameterName);

/** The part of a {@link PluginKey} that a path names. */
export type Target = Partial<PluginKey>;

/** The {@link Target} of paths with these parameters. */
export type TargetOf<Name extends string> = Pick<
  PluginKey,
  | (Name extends 'identifier' | 'ident' ? 'environment' | 'tenant' : never)
  | (Name extends 'environment' | 'namespace' ? Name : never)
  | (Name extends 'pluginName' | 'name' | 'ext' ? 'pluginName' : never)
>;
