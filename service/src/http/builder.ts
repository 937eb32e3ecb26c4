import * as z from 'zod';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { overwriteDraft, updateDraft } from './draft-saves.ts';
import { ServiceError } from './errors.ts';
import { empty, json, respond } from './operations/responses.ts';
import { jsonBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { requireDraft } from './require-draft.ts';
import { checkPreconditions, hasPreconditions, isNotModified } from './preconditions.ts';
import { sourceSchema } from '../plugins/records.ts';
import type { PluginSource } from '../plugins/records.ts';
import { sourceLimit } from './source-limit.ts';

const features = z
  .object({
    features: z
      .array(z.string())
      .meta({ description: 'What the service offers beside saving.', examples: [['testing']] }),
    languages: z.array(
      z.object({
        identifier: z.string().meta({ examples: ['typescript'] }),
        pretty: z.string().meta({ examples: ['TypeScript'] }),
        short: z.string().meta({ examples: ['ts'] }),
      }),
    ),
  })
  .meta({ id: 'Features' });

const draftHeaders = ['etag'] as const;

/** The builder interface: features, and drafts to read and to save. */
export const builder: ServiceInterface = {
  operations: [
    operation({
      id: 'getFeatures',
      method: 'GET',
      path: '/api/v1/features',
      summary: 'What the service offers',
      tag: 'builder',
      auth: 'none',
      responses: { 200: json(features, { description: 'Its features and languages.' }) },
      handle: (_, { features: all, languages }) => {
        const known = [...languages.values()].map(({ identifier, pretty, short }) => ({
          identifier,
          pretty,
          short,
        }));
        return { status: 200, body: { features: all, languages: known } };
      },
    }),

    operation({
      id: 'readDraft',
      method: 'GET',
      path: '/api/v1/draft/:identifier/:namespace/:pluginName',
      summary: 'Read a draft',
      tag: 'builder',
      auth: 'editor',
      permission: 'read',
      headers: ['if-none-match'],
      responses: {
        200: json(sourceSchema, { description: 'The draft.', headers: draftHeaders }),
        304: empty({ description: 'The client has it already.', headers: draftHeaders }),
      },
      errors: { 404: ['draft-not-found'] },
      handle: async ({ c, target }, { storage }) => {
        const { etag, source } = await requireDraft(storage.tables, target);
        return isNotModified(c, etag) ? respond(304, undefined, { etag }) : respond(200, source, { etag });
      },
    }),

    operation({
      id: 'saveDraft',
      method: 'POST',
      path: '/api/v1/draft/:identifier/:namespace/:pluginName',
      summary: 'Save a draft',
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      headers: ['if-match', 'if-none-match'],
      body: jsonBody(sourceSchema, {
        description: 'A plugin source record.',
        limit: sourceLimit,
        code: 'invalid-record',
        name: 'the record',
      }),
      responses: { 200: json(sourceSchema, { description: 'The draft as saved.', headers: draftHeaders }) },
      errors: { 403: ['too-many-plugins'], 422: ['unknown-language'] },
      handle: async ({ c, target, caller, body }, context) => {
        checkLanguage(body, context);
        const draft = hasPreconditions(c)
          ? await updateDraft(
              context,
              target,
              (current) => {
                checkPreconditions(c, current?.etag);
                return body;
              },
              caller.actor,
            )
          : await overwriteDraft(context, target, body, caller.actor);
        return { status: 200, body: draft.source, headers: { etag: draft.etag } };
      },
    }),
  ],
};

function checkLanguage({ lang }: PluginSource, { languages }: ServiceContext): void {
  if (languages.has(lang)) return;
  const known = [...languages.keys()].join(', ');
  throw new ServiceError(422, 'unknown-language', `lang: must be one of ${known}.`, { path: '/lang' });
}
