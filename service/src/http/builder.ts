import * as z from 'zod';
import type { CheckCounts } from './body.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { saveDraft, updateDraft } from './draft-saves.ts';
import { ServiceError } from './errors.ts';
import { scanJson } from './json-scan.ts';
import type { JsonCounts } from './json-scan.ts';
import { longestPointer } from './operations/issues.ts';
import type { Target } from './operations/path-parameters.ts';
import { empty, json, JsonText, respond } from './operations/responses.ts';
import { jsonBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { requireDraft } from './require-draft.ts';
import { checkPreconditions, hasPreconditions, isNotModified } from './preconditions.ts';
import { toPointer } from '../json-pointer.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { recordLimits, sourceSchema } from '../plugins/records.ts';
import type { PluginSource } from '../plugins/records.ts';
import { sourceLimit } from './source-limit.ts';
import { readDraft, readDraftState } from '../storage/tables/drafts.ts';

const features = z
  .object({
    features: z.array(z.string()).meta({
      description: 'What the service can do besides saving: `testing`, `stream_builds`.',
      examples: [['testing']],
    }),
    languages: z.array(
      z.object({
        identifier: z
          .string()
          .meta({ description: '`{language}` in paths, and `lang` of records.', examples: ['typescript'] }),
        pretty: z.string().meta({ description: 'The display name.', examples: ['TypeScript'] }),
        short: z.string().meta({ description: 'The short name.', examples: ['ts'] }),
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
      summary: 'Read what the service can do',
      tag: 'builder',
      auth: 'none',
      responses: { 200: json(features, { description: 'The features and languages.' }) },
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
        304: empty({
          description: 'The draft still has the entity tag of the request.',
          headers: draftHeaders,
        }),
      },
      errors: { 404: ['draft-not-found'] },
      handle: async ({ c, target }, { storage }) => {
        if (c.req.header('if-none-match') !== undefined) {
          const etag = (await readDraftState(storage.db, target))?.etag;
          if (etag !== undefined && isNotModified(c, etag)) return respond(304, undefined, { etag });
        }
        const { etag, record } = await requireDraft(storage.db, target);
        return respond(200, new JsonText(record), { etag });
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
        description: 'The source, with its tests.',
        limit: sourceLimit,
        code: 'invalid-record',
        name: 'the record',
        check: checkRecordCounts,
      }),
      responses: { 200: json(sourceSchema, { description: 'The draft as saved.', headers: draftHeaders }) },
      errors: { 403: ['too-many-plugins', 'storage-full'], 422: ['unknown-language'] },
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
              caller,
            )
          : await saveDraft(context, target, body, caller);
        return respond(200, new JsonText(draft.record), { etag: draft.etag });
      },
    }),
  ],
};

/** Refuses a record with too many values. One that is stored already, from before there was a limit, may become smaller. */
function checkRecordCounts(target: Target, { storage }: ServiceContext): CheckCounts {
  return async (counts) => {
    const tests = testsIn(counts);
    if (counts.values <= recordLimits.values && tests <= recordLimits.tests) return;
    const draft = await readDraft(storage.db, target as PluginKey);
    const stored = draft && (await scanJson(draft.record));
    const fits = (value: number, max: number, before = 0) => value <= max || value < before;
    if (!fits(tests, recordLimits.tests, stored && testsIn(stored))) {
      const message = `tests: expected at most ${recordLimits.tests} tests, received ${tests}.`;
      throw new ServiceError(422, 'invalid-record', message, { path: '/tests' });
    }
    if (fits(counts.values, recordLimits.values, stored?.values)) return;
    const [largest] = [...counts.members].toSorted(([, a], [, b]) => b - a);
    const ofParts = [...counts.members.values()].reduce((sum, one) => sum + one, 0);
    // Where most are members of the record, it is the record that is too large.
    const path = largest && largest[1] > counts.values - ofParts ? [largest[0]] : [];
    throw new ServiceError(
      422,
      'invalid-record',
      `the record: expected at most ${recordLimits.values} members of objects and elements of arrays, received ${counts.values}.`,
      { path: toPointer(path, longestPointer) },
    );
  };
}

function testsIn({ elements }: JsonCounts): number {
  return elements.get('tests') ?? 0;
}

function checkLanguage({ lang }: PluginSource, { languages }: ServiceContext): void {
  if (languages.has(lang)) return;
  const known = [...languages.keys()].join(', ');
  throw new ServiceError(422, 'unknown-language', `lang: must be one of ${known}.`, { path: '/lang' });
}
