import * as z from 'zod';
import { isInScope } from '../../plugins/plugin-key.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredRun } from '../../storage/tables/runs.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { notFound } from '../errors.ts';
import { json, respond } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { runSchema, toRun } from './run-schemas.ts';

const paging = pagingBy('text');

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
    .meta({ description: 'Only those that succeeded, or failed.', override: { type: 'boolean' } }),
};

/** The records of runs. */
export const runs: ServiceInterface = {
  operations: [
    operation({
      id: 'listRuns',
      method: 'GET',
      path: '/api/v1/plugin/:ident/:namespace/:name/runs',
      summary: 'List the runs of a plugin, newest first',
      description: 'A page ends early where its runs have much text.',
      tag: 'environment',
      auth: 'either',
      permission: 'runs',
      query: z.object({ ...pageQuery(), ...filterQuery }),
      responses: {
        200: json(z.object({ runs: z.array(runSchema), next: z.string().optional() }), {
          description: 'The runs that are recorded and still kept.',
        }),
      },
      errors: { 404: ['plugin-not-found'] },
      async handle({ target, query }, { storage }) {
        const { version, success } = query;
        const { environment, tenant, namespace, pluginName } = target;
        const filter = { environment, tenant, namespace, pluginName, version, success };
        const list = { operation: 'listRuns', filter };
        const request = paging.readRequest(list, query);
        const found = await storage.tables.runs.list(
          target,
          { version, success },
          request.limit + 1,
          request.after?.[0],
        );
        if (!found.length) await checkPluginExists(storage, target);
        const limit = rowsWithin(found, request.limit);
        const { rows, next } = paging.toPage(list, { ...request, limit }, found, ({ id }) => [id]);
        return respond(200, { runs: rows.map((run) => toRun(target, run)), ...next });
      },
    }),
    operation({
      id: 'getRun',
      method: 'GET',
      path: '/api/v1/run/:uuid',
      summary: 'Read what is recorded of a run',
      description: 'Its id is that of the request that started it: `x-request-id` of the execution.',
      tag: 'environment',
      auth: 'either',
      permission: 'runs',
      responses: { 200: json(runSchema, { description: 'The run.' }) },
      errors: { 404: ['run-not-found'] },
      async handle({ path, caller }, { storage }) {
        const { environment } = caller.kind === 'editor' ? caller.scope : caller;
        const found = await storage.tables.runs.find(path.uuid, environment);
        if (!found || (caller.kind === 'editor' && !isInScope(found.plugin, caller.scope)))
          throw runNotFound();
        return respond(200, toRun(found.plugin, found.run));
      },
    }),
  ],
};

/** How many characters the logs, inputs and outputs of one page may have together: those of 200 runs can have 10 million. */
const maxTextLength = 2_000_000;

/** How many of the found runs go on the page: up to `limit`, fewer where their texts are too long, and at least one. */
function rowsWithin(found: readonly StoredRun[], limit: number): number {
  let texts = 0;
  const end = found.findIndex(({ details: { logs = [], input = '', output = '' } }, i) => {
    texts += input.length + output.length + logs.reduce((sum, entry) => sum + entry.length, 0);
    return i > 0 && texts > maxTextLength;
  });
  return end < 0 ? limit : Math.min(end, limit);
}

/**
 * Throws 404 for a plugin that does not exist. An empty list of runs does not show this, because an existing plugin may never
 * have run.
 */
export async function checkPluginExists(
  storage: ServiceContext['storage'],
  plugin: PluginKey,
): Promise<void> {
  if (await storage.tables.plugins.exists(plugin)) return;
  throw notFound('plugin-not-found', 'There is no such plugin.');
}

export const runNotFound = () =>
  notFound('run-not-found', 'There is no such run, or its record is not kept any more.');
