import * as z from 'zod';
import { isInScope } from '../../plugins/plugin-key.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { notFound } from '../errors.ts';
import { json, respond } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { pluginNotFound } from '../environment/plugin-details.ts';
import { runSchema, toRun } from './run-schemas.ts';
import { findRun, listRuns } from '../../storage/tables/runs.ts';
import { pluginExists } from '../../storage/tables/plugins.ts';
import type { StoredRun } from '../../storage/tables/runs.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { EditorCaller, EnvironmentCaller } from '../auth.ts';
import type { Context } from 'hono';

const pageOf = pagingBy('text');

/** How many bytes of JSON a page has, so that reading, converting and writing it takes the thread a few ms. */
const maxBytes = 256 * 1024;

const filterQuery = {
  version: z
    .string()
    .regex(/^v\d+\.\d+\.\d+$/, 'must be of the form v1.0.0')
    .optional()
    .meta({ description: 'Only runs of this version.' }),
  success: z
    .enum(['true', 'false'])
    .optional()
    .transform((text) => (text === undefined ? undefined : text === 'true'))
    .meta({
      description: '`true`: only runs that succeeded; `false`: only runs that failed.',
      override: { type: 'boolean' },
    }),
};

/** The records of runs. */
export const runs: ServiceInterface = {
  operations: [
    operation({
      id: 'listRuns',
      method: 'GET',
      path: '/api/v1/plugin/:ident/:namespace/:name/runs',
      summary: 'List the runs of a plugin, newest first',
      description: 'A page may hold fewer runs than `limit` where their records are large.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'runs',
      query: z.object({ ...pageQuery(), ...filterQuery }),
      responses: {
        200: json(z.object({ runs: z.array(runSchema), next: z.string().optional() }), {
          description: 'The runs that are recorded and still kept.',
        }),
      },
      errors: { 404: ['plugin-not-found'] },
      async handle({ c, target, caller, query }, context) {
        const { storage } = context;
        const { version, success } = query;
        const { environment, tenant, namespace, pluginName } = target;
        const filter = { environment, tenant, namespace, pluginName, version, success };
        const page = pageOf({ operation: 'listRuns', filter }, query);
        const { runs: found, isCut } = await listRuns(
          storage.db,
          target,
          { version, success },
          { limit: page.limit, before: page.after?.[0], maxBytes },
        );
        if (!found.length) await checkPluginExists(storage, target);
        await noteReading(c, context, caller, target, found);
        const { items, next } = page.of(
          found,
          ({ id }) => [id],
          (run) => toRun(target, run),
          { maxBytes, hasMore: isCut },
        );
        return respond(200, { runs: items, ...next });
      },
    }),
    operation({
      id: 'getRun',
      method: 'GET',
      path: '/api/v1/run/:uuid',
      summary: 'Read the record of a run',
      description: 'The id of a run is the `x-request-id` of the response to its execution.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'runs',
      responses: { 200: json(runSchema, { description: 'The run.' }) },
      errors: { 404: ['run-not-found'] },
      async handle({ c, path, caller }, context) {
        const { storage } = context;
        const { environment } = caller.kind === 'editor' ? caller.scope : caller;
        const found = await findRun(storage.db, path.uuid, environment);
        if (!found || (caller.kind === 'editor' && !isInScope(found.plugin, caller.scope)))
          throw runNotFound();
        await noteReading(c, context, caller, found.plugin, [found.run]);
        return respond(200, toRun(found.plugin, found.run, true));
      },
    }),
  ],
};

/**
 * Throws 404 for a plugin that does not exist. An empty list of runs does not show this, because an existing plugin may never
 * have run.
 */
export async function checkPluginExists(
  storage: ServiceContext['storage'],
  plugin: PluginKey,
): Promise<void> {
  if (await pluginExists(storage.db, plugin)) return;
  throw pluginNotFound();
}

/** Notes in the audit log who reads what runs logged, got or gave, where records may hold it. */
async function noteReading(
  c: Context,
  context: ServiceContext,
  caller: EditorCaller | EnvironmentCaller,
  plugin: PluginKey,
  read: readonly StoredRun[],
): Promise<void> {
  const mayHold =
    context.maxLimits.records !== 'outcome' ||
    read.some(({ details: { logs, input, output, calls } }) => logs ?? input ?? output ?? calls);
  if (!read.length || !mayHold) return;
  const stamp = auditStamp(c, caller, context);
  await context.hourlyEntries.write(context.storage.db, { ...stamp, action: 'runs.read', target: plugin });
}

export const runNotFound = () =>
  notFound('run-not-found', 'There is no such run, or its record is not kept any more.');
