import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { empty, json, JsonText } from '../operations/responses.ts';
import { schemaInResponse } from './namespace-details.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { PluginSource } from '../../plugins/records.ts';
import { ServiceError } from '../errors.ts';
import { deleteVersion, findVersionRecord, listVersions } from '../../storage/tables/versions.ts';
import type { VersionRecord } from '../../storage/tables/versions.ts';
import { actorSchema } from '../grant-schemas.ts';
import {
  liveOf,
  pluginNotFound,
  timeSchema,
  toTime,
  versionNameSchema,
  versionNotFound,
} from './plugin-details.ts';
import { pluginExists } from '../../storage/tables/plugins.ts';
import { findPluginRecord } from '../../storage/tables/plugin-records.ts';
import { lockPlugin } from '../../storage/db.ts';
import { stringifyMembers } from '../../storage/long-json.ts';

const path = '/api/v1/plugin/:ident/:namespace/:name/versions';

const versionFields = {
  version: versionNameSchema,
  deployedAt: timeSchema,
  actor: actorSchema.optional(),
  message: z.string().optional().meta({ description: 'The message of the deploy.' }),
  lang: z.string().meta({ examples: ['typescript'] }),
  digest: z.string().meta({
    description:
      'SHA-256, in hex, of language, source, tests, schemas and libraries. Versions with the same digest were made of the same.',
  }),
  live: z.boolean().meta({ description: 'Whether it is the live version.' }),
};

const versionSchema = z.object(versionFields).meta({ id: 'Version' });

const versionSourceSchema = z
  .object({
    ...versionFields,
    contents: z.string(),
    tests: z
      .array(z.looseObject({}))
      .meta({ description: 'The tests that the draft had when it was deployed.' }),
    input: schemaInResponse.optional(),
    output: schemaInResponse.optional(),
  })
  .meta({ id: 'VersionSource' });

const pageOf = pagingBy('number');

/** The deployed versions of a plugin. */
export const versions: ServiceInterface = {
  operations: [
    operation({
      id: 'listVersions',
      method: 'GET',
      path,
      summary: 'List the versions of a plugin',
      description: 'The newest first.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(
          z
            .object({ versions: z.array(versionSchema), next: z.string().optional() })
            .meta({ id: 'VersionList' }),
          { description: 'The versions.' },
        ),
      },
      errors: { 404: ['plugin-not-found'] },
      handle: async ({ target, query }, context) => {
        const page = pageOf({ operation: 'listVersions', filter: { ...target } }, query);
        const live = await liveVersion(context, target);
        const found = await listVersions(context.storage.db, target, {
          before: page.after?.[0],
          limit: page.limit,
        });
        const { items, next } = page.of(
          found,
          ({ patch }) => [patch],
          (row) => toVersionDetails(row, live),
        );
        return { status: 200, body: { versions: items, ...next } };
      },
    }),

    operation({
      id: 'getVersion',
      method: 'GET',
      path: `${path}/:version`,
      summary: 'Read a version with its source',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'read',
      responses: { 200: json(versionSourceSchema, { description: 'The version.' }) },
      errors: { 404: ['plugin-not-found', 'version-not-found'] },
      handle: async ({ target, path: { version: name } }, context) => {
        const live = await liveVersion(context, target);
        const found = await findVersionRecord(context.storage.db, target, name);
        if (!found) throw versionNotFound();
        const { contents, tests = [] } = JSON.parse(found.source) as PluginSource;
        const types = found.program.isTyped ? (await found.program.load()).types : undefined;
        const version = { ...toVersionDetails(found.record, live), contents, tests, ...types?.schemas };
        return { status: 200, body: new JsonText(await stringifyMembers(version)) };
      },
    }),

    operation({
      id: 'deleteVersion',
      method: 'DELETE',
      path: `${path}/:version`,
      summary: 'Delete a version',
      description:
        'Frees its storage. The newest version, the live one and one that is being rolled out cannot be deleted. The number is never used again. The records of its runs stay.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'manage',
      permission: 'deploy',
      responses: { 204: empty({ description: 'The version was deleted.' }) },
      errors: { 404: ['plugin-not-found', 'version-not-found'], 409: ['version-in-use'] },
      handle: async ({ c, target, caller, path: { version } }, context) => {
        const { storage } = context;
        const stamp = auditStamp(c, caller, context);
        const outcome = await storage.transaction(async (db) => {
          await lockPlugin(db, target);
          const deleted = await deleteVersion(db, target, version);
          if (deleted === 'deleted')
            await writeAudit(db, { ...stamp, action: 'version.deleted', target, version });
          return deleted === 'missing' && !(await pluginExists(db, target)) ? 'no-plugin' : deleted;
        }, target);
        if (outcome === 'no-plugin') throw pluginNotFound();
        if (outcome === 'missing') throw versionNotFound();
        if (outcome === 'in-use') throw versionInUse(version);
        return { status: 204 };
      },
    }),
  ],
};

const versionInUse = (version: string) =>
  new ServiceError(
    409,
    'version-in-use',
    `${version} is the newest version, what runs where none is named, or being rolled out: deploy or make live another one first, or end the rollout.`,
  );

/** The version that is live; `undefined` before the first deploy. Throws 404 where there is no such plugin. */
async function liveVersion({ storage }: ServiceContext, plugin: PluginKey): Promise<string | undefined> {
  const found = await findPluginRecord(storage.db, plugin);
  if (!found) throw pluginNotFound();
  return liveOf(found);
}

const toVersionDetails = (
  { version, deployedAt, actor, message, lang, digest }: VersionRecord,
  live: string | undefined,
) => ({
  version,
  deployedAt: toTime(deployedAt),
  ...(actor !== undefined && { actor }),
  ...(message !== undefined && { message }),
  lang,
  digest,
  live: version === live,
});
