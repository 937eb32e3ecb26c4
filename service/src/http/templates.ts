import * as z from 'zod';
import type { EditorCaller, EnvironmentCaller } from './auth.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { declarationsIn } from './declarations.ts';
import { requireLanguage } from './require-language.ts';
import { json } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import { reachable } from './types.ts';
import { isStorable } from '../plugins/stored-text.ts';
import { areTyped } from '../plugins/schemas.ts';
import { sourceSchema } from '../plugins/records.ts';
import type { PluginSource } from '../plugins/records.ts';
import { findNamespace } from '../storage/tables/namespaces.ts';

const defaultNamespace = 'default';

const description =
  'With an editor token, or an environment token with the scope `read`, the template is the one of the namespace. If the namespace has types, that is its own template or one that takes and returns values, with the samples as tests. If it has connections, a comment names what `fetch` may reach.';

/** The builder interface's templates. */
export const templates: ServiceInterface = {
  operations: [
    operation({
      id: 'getTemplate',
      method: 'GET',
      path: '/api/v1/template/:language',
      summary: 'Read a template',
      description,
      tag: 'builder',
      auth: 'optional',
      scope: 'any',
      responses: { 200: json(sourceSchema, { description: 'A source that builds as it is.' }) },
      handle: async ({ c, path, caller }, context) => ({
        status: 200,
        body: await templateFor(
          context,
          caller,
          { language: path.language, pluginName: 'my-plugin' },
          c.req.raw.signal,
        ),
      }),
    }),

    operation({
      id: 'getNamedTemplate',
      method: 'GET',
      path: '/api/v2/template/:language/:pluginName',
      summary: 'Read a template with the name of the plugin',
      description,
      tag: 'builder',
      auth: 'optional',
      scope: 'any',
      query: z.object({
        namespace: z
          .string()
          .optional()
          .meta({
            description: 'The namespace of the plugin; by default the one of the token, else `default`.',
            examples: ['default'],
          }),
      }),
      responses: { 200: json(sourceSchema, { description: 'A source that builds as it is.' }) },
      handle: async ({ c, path, query, caller }, context) => ({
        status: 200,
        body: await templateFor(
          context,
          caller,
          { ...path, namespace: query.namespace || undefined },
          c.req.raw.signal,
        ),
      }),
    }),
  ],
};

interface TemplateRequest {
  readonly language: string;
  readonly pluginName: string;
  readonly namespace?: string | undefined;
}

async function templateFor(
  context: ServiceContext,
  caller: EditorCaller | EnvironmentCaller | undefined,
  { language: identifier, pluginName, namespace: requested }: TemplateRequest,
  signal: AbortSignal,
): Promise<PluginSource> {
  const language = requireLanguage(context, identifier);
  const scope = readableBy(caller);
  const ownNamespace = scope && 'namespace' in scope ? scope.namespace : undefined;
  const namespace = requested ?? ownNamespace ?? defaultNamespace;
  const plain = language.template({ pluginName, namespace });
  // A token must not reveal the types of another namespace, and a name that cannot be stored makes a query fail.
  const isOtherNamespace = ownNamespace !== undefined && ownNamespace !== namespace;
  if (!scope || isOtherNamespace || !isStorable(namespace)) return plain;
  const found = await findNamespace(context.storage.db, { environment: scope.environment, namespace });
  if (!found) return plain;
  const { samples = [], templates: sources = {}, input, output } = found.details;
  const connections = await reachable(context.storage, { ...scope, namespace }, found.details.connections);
  const isTyped = areTyped({ input, output });
  const own = Object.hasOwn(sources, identifier) ? sources[identifier] : undefined;
  const tests = samples.map((sample) => ({
    name: sample.name,
    ...(sample.description !== undefined && { description: sample.description }),
    payload: toPayload(sample.input, isTyped),
    ...(sample.output !== undefined && { expected: toPayload(sample.output, isTyped) }),
  }));
  const known = samples.find((sample) => sample.output !== undefined)?.output;
  const contents =
    own ??
    (isTyped
      ? language.typedTemplate({
          output: known === undefined ? undefined : JSON.stringify(known),
          connections,
          declarations:
            language.declarations === undefined
              ? ''
              : await declarationsIn(context, language.declarations, scope, { input, output }, signal),
        })
      : language.template({ pluginName, namespace, connections }).contents);
  return {
    lang: identifier,
    contents,
    ...(isTyped || tests.length || own !== undefined ? { tests } : { tests: plain.tests }),
  };
}

/** Whose types the caller may read; `undefined` for none. */
function readableBy(caller: EditorCaller | EnvironmentCaller | undefined) {
  if (caller?.kind === 'editor') return caller.scope;
  return caller?.scopes.includes('read') ? { environment: caller.environment } : undefined;
}

/** A sample's value as the payload of a test. A plugin without types gets a text as it is, and not as JSON. */
const toPayload = (value: unknown, isTyped: boolean) =>
  !isTyped && typeof value === 'string' ? value : JSON.stringify(value, null, 2);
