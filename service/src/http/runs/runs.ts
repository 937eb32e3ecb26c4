import * as z from 'zod';
import { isInScope } from '../../plugins/plugin-key.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import type { StoredRun } from '../../storage/tables/runs.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { notFound } from '../errors.ts';
import { json, reply } from '../operations/answers.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { runSchema, toRun } from './answers.ts';

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
      answers: {
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
        const page = paging.page(list, query);
        const found = await storage.tables.runs.list(
          target,
          { version, success },
          page.limit + 1,
          page.after?.[0],
        );
        if (!found.length) await requirePlugin(storage, target);
        const limit = rowsWithin(found, page.limit);
        const { rows, next } = paging.answer(list, { ...page, limit }, found, ({ id }) => [id]);
        return reply(200, { runs: rows.map((run) => toRun(target, run)), ...next });
      },
    }),
    operation({
      id: 'getRun',
      method: 'GET',
      path: '/api/v1/run/:uuid',
      summary: 'Read what is recorded of a run',
      description: 'Its id is that of the request that asked for it: `x-request-id` of the execution.',
      tag: 'environment',
      auth: 'either',
      permission: 'runs',
      answers: { 200: json(runSchema, { description: 'The run.' }) },
      errors: { 404: ['run-not-found'] },
      async handle({ path, caller }, { storage }) {
        const { environment } = caller.kind === 'editor' ? caller.scope : caller;
        const found = await storage.tables.runs.find(path.uuid, environment);
        if (!found || (caller.kind === 'editor' && !isInScope(found.plugin, caller.scope))) throw noRun();
        return reply(200, toRun(found.plugin, found.run));
      },
    }),
  ],
};

/** How many characters of what runs said, got and gave one page has: 200 runs can have 10 million. */
const mostTexts = 2_000_000;

/** How many of the runs that were found a page has: `limit`, or as many as have not too much text, and at least one. */
function rowsWithin(found: readonly StoredRun[], limit: number): number {
  let texts = 0;
  const end = found.findIndex(({ details: { logs = [], input = '', output = '' } }, i) => {
    texts += input.length + output.length + logs.reduce((sum, entry) => sum + entry.length, 0);
    return i > 0 && texts > mostTexts;
  });
  return end < 0 ? limit : Math.min(end, limit);
}

/** Throws 404 where a plugin is not there: nothing is recorded of one that was never run, either. */
export async function requirePlugin(storage: ServiceContext['storage'], plugin: PluginKey): Promise<void> {
  if (await storage.tables.plugins.exists(plugin)) return;
  throw notFound('plugin-not-found', 'There is no such plugin.');
}

export const noRun = () =>
  notFound('run-not-found', 'There is no such run, or its record is not kept any more.');
