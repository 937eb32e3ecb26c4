import * as z from 'zod';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import type { ServiceInterface } from '../context.ts';
import { json } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy, rowsForOldClients } from '../paging.ts';
import { listPluginRecords } from '../../storage/tables/plugin-records.ts';
import type { PluginRecord } from '../../storage/tables/plugin-records.ts';
import { liveOf } from './plugin-details.ts';

const pageOf = pagingBy('text');

const functionSchema = z
  .object({
    name: z.string(),
    namespace: z.string(),
    lang: z.string(),
    version: z.string().meta({ description: 'The live version; empty before the first deploy.' }),
    draftVersion: z.string().meta({ description: 'The version that the next deploy makes.' }),
    apiVersion: z.string(),
    fqmn: z.string().meta({
      description: 'The live version, as a URI.',
      examples: ['fqmn://com.acme.customer-7/default/add-record@v1.0.0'],
    }),
    uri: z.string().meta({
      description: 'The path of its execution, below `/exec`.',
      examples: ['/name/com.acme.customer-7/default/add-record'],
    }),
  })
  .meta({ id: 'Function' });

/** The plugins of a namespace, with the path and the field names that clients of version 0.5 expect. */
export const functions: ServiceInterface = {
  operations: [
    operation({
      id: 'listFunctions',
      method: 'GET',
      path: '/api/v2/functions/:ident/:namespace',
      summary: 'List the plugins of a namespace, for clients of version 0.5',
      description: 'The list is empty for a tenant that does not exist.',
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery(rowsForOldClients)),
      responses: {
        200: json(
          z
            .object({ plugins: z.array(functionSchema), next: z.string().optional() })
            .meta({ id: 'FunctionList' }),
          { description: 'The plugins, by name.' },
        ),
      },
      handle: async ({ target, query }, { storage }) => {
        const page = pageOf({ operation: 'listFunctions', filter: { ...target } }, query);
        const found = await listPluginRecords(storage.db, target, {
          after: page.after && [target.namespace, page.after[0]],
          limit: page.limit,
        });
        const ident = joinIdentifier(target);
        const { items, next } = page.of(
          found,
          ({ name }) => [name],
          (plugin) => toFunction(ident, plugin),
        );
        return { status: 200, body: { plugins: items, ...next } };
      },
    }),
  ],
};

function toFunction(ident: string, plugin: PluginRecord) {
  const { name, namespace, lang, nextVersion } = plugin;
  const version = liveOf(plugin) ?? '';
  return {
    name,
    namespace,
    lang,
    version,
    draftVersion: nextVersion,
    apiVersion,
    fqmn: `fqmn://${ident}/${namespace}/${name}@${version}`,
    uri: `/name/${ident}/${namespace}/${name}`,
  };
}

/** The version of the interface that plugins are written for: `run`, from text to text. */
const apiVersion = '1.0.0';
