import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { EditorCaller, EnvironmentCaller } from '../auth.ts';
import type { ServiceInterface } from '../context.ts';
import { empty, json } from '../operations/responses.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import type { PluginScope, TenantKey } from '../../plugins/plugin-key.ts';
import {
  liveOf,
  toPluginDetails,
  pluginNotFound,
  pluginSchema,
  versionNameSchema,
  versionNotFound,
} from './plugin-details.ts';
import { checkStorable } from '../grant-schemas.ts';
import { findPluginRecord, listPluginRecords } from '../../storage/tables/plugin-records.ts';
import { deletePlugin, pinVersion } from '../../storage/tables/plugins.ts';
import { stopRollout } from './rollouts.ts';
import { lockPlugin } from '../../storage/db.ts';

const pluginPath = '/api/v1/plugin/:ident/:namespace/:name';

const pageOf = pagingBy('text', 'text');

/**
 * The plugins of a list: those of the tenant that the caller may see, and of these only those of `namespace`, if that is given.
 * `undefined` where the caller may see none of that namespace.
 */
function listedScope(
  caller: EditorCaller | EnvironmentCaller,
  { environment, tenant }: TenantKey,
  namespace: string | undefined,
): PluginScope | undefined {
  const scope: PluginScope = caller.kind === 'editor' ? caller.scope : { environment, tenant };
  if (namespace === undefined || scope.namespace === namespace) return scope;
  return scope.namespace === undefined ? { ...scope, namespace } : undefined;
}

/** The plugins of a tenant, and which version of each is live. */
export const plugins: ServiceInterface = {
  operations: [
    operation({
      id: 'listPlugins',
      method: 'GET',
      path: '/api/v1/tenant/:ident/plugins',
      summary: "List a tenant's plugins",
      description:
        'Sorted by the bytes of namespace and name. With an editor token, only the plugins that it is for. Empty for a tenant that does not exist.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'read',
      query: z.object({
        ...pageQuery(),
        namespace: z.string().min(1).optional().meta({ description: 'Only plugins of this namespace.' }),
      }),
      responses: {
        200: json(
          z
            .object({ plugins: z.array(pluginSchema), next: z.string().optional() })
            .meta({ id: 'PluginList' }),
          { description: 'The plugins.' },
        ),
      },
      errors: { 400: ['invalid-text'] },
      handle: async ({ target, caller, query }, { storage }) => {
        checkStorable({ namespace: query.namespace });
        const scope = listedScope(caller, target, query.namespace);
        if (!scope) return { status: 200, body: { plugins: [] } };
        const { environment, tenant, namespace, pluginName } = scope;
        const filter = { environment, tenant, namespace, pluginName };
        const page = pageOf({ operation: 'listPlugins', filter }, query);
        const found = await listPluginRecords(storage.db, scope, page);
        const { items, next } = page.of(
          found,
          (row) => [row.namespace, row.name],
          (row) => toPluginDetails(scope, row),
        );
        return { status: 200, body: { plugins: items, ...next } };
      },
    }),

    operation({
      id: 'getPlugin',
      method: 'GET',
      path: pluginPath,
      summary: 'Read a plugin',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'read',
      responses: { 200: json(pluginSchema, { description: 'The plugin.' }) },
      errors: { 404: ['plugin-not-found'] },
      handle: async ({ target }, { storage }) => {
        const found = await findPluginRecord(storage.db, target);
        if (!found) throw pluginNotFound();
        return { status: 200, body: toPluginDetails(target, found) };
      },
    }),

    operation({
      id: 'deletePlugin',
      method: 'DELETE',
      path: pluginPath,
      summary: 'Delete a plugin, with its draft, versions and runs',
      description:
        'Editor tokens for this plugin alone end. Its version numbers are never used again: a later plugin of the same name goes on with higher ones.',
      tag: 'environment',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The plugin was deleted.' }) },
      errors: { 404: ['plugin-not-found'] },
      handle: async ({ c, target, caller }, context) => {
        const { storage, now, eraser } = context;
        const stamp = auditStamp(c, caller, context);
        const isDeleted = await storage.transaction(async (db) => {
          await lockPlugin(db, target);
          await stopRollout(db, target, 'deleted', stamp);
          const wasThere = await deletePlugin(db, target, now());
          if (wasThere) await writeAudit(db, { ...stamp, action: 'plugin.deleted', target });
          return wasThere;
        }, target);
        if (!isDeleted) throw pluginNotFound();
        eraser.wake();
        return { status: 204 };
      },
    }),

    operation({
      id: 'setLive',
      method: 'PUT',
      path: `${pluginPath}/live`,
      summary: 'Make a version live',
      description:
        'The version stays live, whatever is deployed later, until you make another one live or send `null`. Ends a rollout.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'manage',
      permission: 'deploy',
      body: jsonBody(
        z
          .object({
            version: versionNameSchema
              .nullable()
              .meta({ description: 'The version; `null` makes the newest live, now and after each deploy.' }),
          })
          .meta({ id: 'LiveRequest' }),
        { description: 'The version to make live.' },
      ),
      responses: { 200: json(pluginSchema, { description: 'The plugin as it is now.' }) },
      errors: { 400: ['invalid-text'], 404: ['plugin-not-found', 'version-not-found'] },
      handle: async ({ c, target, caller, body }, context) => {
        const { storage, now } = context;
        checkStorable({ version: body.version ?? undefined });
        const { actor } = caller;
        const stamp = auditStamp(c, caller, context);
        const found = await storage.transaction(async (db) => {
          await lockPlugin(db, target);
          await stopRollout(db, target, 'live-set', stamp);
          const isThere = await pinVersion(db, target, body.version ?? undefined, { now: now(), actor });
          const plugin = await findPluginRecord(db, target);
          if (plugin && !isThere) throw versionNotFound();
          if (plugin) {
            const version = body.version ?? liveOf(plugin);
            const details = { pinned: body.version !== null };
            await writeAudit(db, { ...stamp, action: 'plugin.live', target, version, details });
          }
          return plugin;
        }, target);
        if (!found) throw pluginNotFound();
        return { status: 200, body: toPluginDetails(target, found) };
      },
    }),
  ],
};
