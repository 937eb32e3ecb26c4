import * as z from 'zod';
import type { EditorCaller, EnvironmentCaller } from './auth.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { languageOf } from './languages.ts';
import { json } from './operations/answers.ts';
import { operation } from './operations/operation.ts';
import { isStorable } from '../plugins/stored-text.ts';
import { areTyped } from '../plugins/schemas.ts';
import { sourceSchema } from '../plugins/records.ts';
import type { PluginSource } from '../plugins/records.ts';

const defaultNamespace = 'default';

const description =
  'Needs no token. With one, the template is that of the namespace: where that has types, the vendor’s own source or one that takes and gives values, and the samples as tests.';

/** The builder interface's templates. */
export const templates: ServiceInterface = {
  operations: [
    operation({
      id: 'getTemplate',
      method: 'GET',
      path: '/api/v1/template/:language',
      summary: 'A new plugin in a language',
      description,
      tag: 'builder',
      auth: 'optional',
      answers: { 200: json(sourceSchema, { description: 'Source that works as it is.' }) },
      handle: async ({ path, caller }, context) => ({
        status: 200,
        body: await templateFor(context, caller, { language: path.language, pluginName: 'my-plugin' }),
      }),
    }),

    operation({
      id: 'getNamedTemplate',
      method: 'GET',
      path: '/api/v2/template/:language/:pluginName',
      summary: 'A new plugin of a name in a language',
      description,
      tag: 'builder',
      auth: 'optional',
      query: z.object({
        namespace: z
          .string()
          .optional()
          .meta({
            description: 'The namespace of the plugin, by default that of the token, else `default`.',
            examples: ['default'],
          }),
      }),
      answers: { 200: json(sourceSchema, { description: 'Source that works as it is.' }) },
      handle: async ({ path, query, caller }, context) => ({
        status: 200,
        body: await templateFor(context, caller, { ...path, namespace: query.namespace || undefined }),
      }),
    }),
  ],
};

interface Asked {
  readonly language: string;
  readonly pluginName: string;
  readonly namespace?: string | undefined;
}

async function templateFor(
  context: ServiceContext,
  caller: EditorCaller | EnvironmentCaller | undefined,
  { language: identifier, pluginName, namespace: asked }: Asked,
): Promise<PluginSource> {
  const language = languageOf(context, identifier);
  const scope = caller?.kind === 'editor' ? caller.scope : caller && { environment: caller.environment };
  const scoped = scope && 'namespace' in scope ? scope.namespace : undefined;
  const namespace = asked ?? scoped ?? defaultNamespace;
  const text = language.template({ pluginName, namespace });
  // A token says nothing of namespaces that it is not for, nor do databases of names that they cannot hold.
  if (!scope || (scoped !== undefined && scoped !== namespace) || !isStorable(namespace)) return text;
  const found = await context.storage.tables.namespaces.find({ environment: scope.environment, namespace });
  if (!found) return text;
  const { samples = [], templates: sources = {}, input, output } = found.details;
  const isTyped = areTyped({ input, output });
  const own = Object.hasOwn(sources, identifier) ? sources[identifier] : undefined;
  const tests = samples.map((sample) => ({
    name: sample.name,
    ...(sample.description !== undefined && { description: sample.description }),
    payload: shown(sample.input, isTyped),
    ...(sample.output !== undefined && { expected: shown(sample.output, isTyped) }),
  }));
  const known = samples.find((sample) => sample.output !== undefined)?.output;
  const typed = isTyped
    ? language.typedTemplate({ output: known === undefined ? undefined : JSON.stringify(known) })
    : text.contents;
  return {
    lang: identifier,
    contents: own ?? typed,
    ...(isTyped || tests.length || own !== undefined ? { tests } : { tests: text.tests }),
  };
}

/** A plugin that takes and gives text is given a text as it is. */
const shown = (value: unknown, isTyped: boolean) =>
  !isTyped && typeof value === 'string' ? value : JSON.stringify(value, null, 2);
