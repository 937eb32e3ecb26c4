import * as z from 'zod';
import type { ServiceInterface } from '../context.ts';
import { json, respond } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { resultSchema, toResult } from './run-schemas.ts';
import { runNotFound, checkPluginExists } from './runs.ts';
import { findRun, listRuns } from '../../storage/tables/runs.ts';

/** How many results the list has. */
const maxResults = 5;

/** Runs by the names that published clients of version 0.5 ask for. */
export const environmentResults: ServiceInterface = {
  operations: [
    operation({
      id: 'listResults',
      method: 'GET',
      path: '/api/v2/results/by-fqmn/:ident/:namespace/:name/:version',
      summary: 'List the five latest runs of a version, as clients of version 0.5 know them',
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      responses: {
        200: json(z.object({ results: z.array(resultSchema) }), { description: 'The runs, newest first.' }),
      },
      errors: { 404: ['plugin-not-found'] },
      async handle({ target, path }, { storage }) {
        const page = { limit: maxResults };
        const { runs: found } = await listRuns(storage.db, target, { version: path.version }, page);
        if (!found.length) await checkPluginExists(storage, target);
        return respond(200, { results: found.map(toResult) });
      },
    }),
    operation({
      id: 'getResult',
      method: 'GET',
      path: '/api/v2/results/by-uuid/:uuid',
      summary: 'Read a run, as clients of version 0.5 know it',
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      responses: { 200: json(resultSchema, { description: 'The run.' }) },
      errors: { 404: ['run-not-found'] },
      async handle({ path, caller }, { storage }) {
        const found = await findRun(storage.db, path.uuid, caller.environment);
        if (!found) throw runNotFound();
        return respond(200, toResult(found.run));
      },
    }),
  ],
};
