import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import type { AuditStamp } from '../../audit/entries.ts';
import type { PluginKey, TenantKey } from '../../plugins/plugin-key.ts';
import { lockPlugin, lockTenant } from '../../storage/db.ts';
import type { Transaction } from '../../storage/db.ts';
import { pluginExists } from '../../storage/tables/plugins.ts';
import { endRollout, endRolloutsOf, findRollout, setRollout } from '../../storage/tables/rollouts.ts';
import type { RolloutEnd, RolloutPlan, RolloutRecord } from '../../storage/tables/rollouts.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { ServiceInterface } from '../context.ts';
import { notFound, ServiceError } from '../errors.ts';
import { actorSchema, checkStorable } from '../grant-schemas.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { empty, json } from '../operations/responses.ts';
import { pluginNotFound, timeSchema, toTime, versionNameSchema, versionNotFound } from './plugin-details.ts';

const path = '/api/v1/plugin/:ident/:namespace/:name/rollout';

const stopSchema = z
  .object({
    runs: z
      .int()
      .min(1)
      .max(1_000_000)
      .meta({ description: 'How many runs both versions must have before their failures are compared.' }),
    failures: z
      .number()
      .min(0)
      .max(1)
      .meta({
        description:
          'The rollout ends when the share of failed runs, from 0 to 1, is higher than that of the live version by this much.',
        examples: [0.05],
      }),
  })
  .meta({ id: 'RolloutStop', description: 'When the rollout ends by itself.' });

/** What a rollout is to be, besides its version. */
export const rolloutTermsSchema = z
  .object({
    percent: z
      .int()
      .min(1)
      .max(99)
      .meta({ description: 'How many of 100 runs without a version in the path get this version.' }),
    stop: stopSchema.optional(),
  })
  .meta({ id: 'RolloutTerms' });

const count = z.int().min(0);

const rolloutSchema = z
  .object({
    version: versionNameSchema,
    percent: z.int(),
    startedAt: timeSchema,
    actor: actorSchema.optional(),
    stop: stopSchema.optional(),
    runs: count.meta({ description: 'How many runs got the version.' }),
    failures: count.meta({ description: 'How many of them failed; `invalid-input` does not count.' }),
    live: z.object({ version: versionNameSchema, runs: count, failures: count }).meta({
      description: 'The live version, and its runs without a version in the path since the rollout began.',
    }),
    stopped: z
      .object({
        at: timeSchema,
        reason: z.enum(['ended', 'live-set', 'failures'] satisfies RolloutEnd[]).meta({
          description: '`ended`: by `endRollout`; `live-set`: by `setLive`; `failures`: by `stop`.',
        }),
      })
      .optional()
      .meta({ description: 'When and why it ended; missing until then.' }),
  })
  .meta({ id: 'Rollout' });

/** Rollouts: a share of a plugin's runs gets another version than the live one. */
export const rollouts: ServiceInterface = {
  operations: [
    operation({
      id: 'getRollout',
      method: 'GET',
      path,
      summary: 'Read the rollout of a plugin',
      description: 'The last rollout, also after its end. The counts may be 5 s old.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'read',
      permission: 'deploy',
      responses: { 200: json(rolloutSchema, { description: 'The rollout.' }) },
      errors: { 404: ['plugin-not-found', 'rollout-not-found'] },
      handle: async ({ target }, { storage }) => {
        const found = await findRollout(storage.db, target);
        if (!found) throw (await pluginExists(storage.db, target)) ? rolloutNotFound() : pluginNotFound();
        return { status: 200, body: toDetails(found) };
      },
    }),

    operation({
      id: 'setRollout',
      method: 'PUT',
      path,
      summary: 'Start or change a rollout',
      description:
        'Pins the live version, and gives this version a share of the runs without a version in the path. If this version is being rolled out already, changes its share and `stop`; without `stop`, the rollout no longer ends by itself. When the share grows, every `x-rollout-key` that has the version keeps it.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'manage',
      permission: 'deploy',
      body: jsonBody(
        rolloutTermsSchema.extend({ version: versionNameSchema }).meta({ id: 'RolloutRequest' }),
        {
          description: 'The version, its share and when to stop.',
        },
      ),
      responses: { 200: json(rolloutSchema, { description: 'The rollout as it is now.' }) },
      errors: {
        400: ['invalid-text'],
        404: ['plugin-not-found', 'version-not-found'],
        409: ['rollout-conflict'],
      },
      handle: async ({ c, target, caller, body }, context) => {
        checkStorable({ version: body.version });
        const stamp = auditStamp(c, caller, context);
        const found = await context.storage.transaction(async (db) => {
          await lockPlugin(db, target);
          if (!(await pluginExists(db, target))) return undefined;
          await startRollout(db, target, body, stamp);
          return findRollout(db, target);
        }, target);
        if (!found) throw pluginNotFound();
        return { status: 200, body: toDetails(found) };
      },
    }),

    operation({
      id: 'endRollout',
      method: 'DELETE',
      path,
      summary: 'End a rollout',
      description: 'All runs without a version in the path get the live version again, which stays pinned.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'manage',
      permission: 'deploy',
      responses: { 204: empty({ description: 'No rollout is running.' }) },
      errors: { 404: ['plugin-not-found', 'rollout-not-found'] },
      handle: async ({ c, target, caller }, context) => {
        const found = await context.storage.transaction(async (db) => {
          await lockPlugin(db, target);
          await stopRollout(db, target, 'ended', auditStamp(c, caller, context));
          return findRollout(db, target);
        }, target);
        if (!found)
          throw (await pluginExists(context.storage.db, target)) ? rolloutNotFound() : pluginNotFound();
        return { status: 204 };
      },
    }),
  ],
};

/**
 * Starts or changes a rollout, with its entry in the audit log. Throws 404 for a version that is not there, and 409 where there can
 * be no such rollout. The transaction must have locked the plugin.
 */
export async function startRollout(
  db: Transaction,
  plugin: PluginKey,
  plan: RolloutPlan,
  stamp: AuditStamp,
): Promise<void> {
  const { version, percent, stop } = plan;
  // So that its deletion finds the rollout, and ends it.
  await lockTenant(db, plugin);
  const outcome = await setRollout(db, plugin, plan, { now: stamp.at, actor: stamp.by.actor });
  switch (outcome) {
    case 'version-missing':
      throw versionNotFound();
    case 'nothing-live':
      throw rolloutConflict('Nothing is live yet: deploy the first version without a rollout.');
    case 'is-live':
      throw rolloutConflict(`${version} is live already.`);
    case 'another':
      throw rolloutConflict('Another version is being rolled out: end that rollout first.');
    case 'started':
    case 'changed':
      await writeAudit(db, {
        action: `rollout.${outcome}`,
        target: plugin,
        version,
        details: { percent, ...(stop && { stop: { ...stop } }) },
        ...stamp,
      });
  }
}

/** Ends a rollout that is running, with its entry in the audit log. The transaction must have locked the plugin. */
export async function stopRollout(
  db: Transaction,
  plugin: PluginKey,
  reason: RolloutEnd | 'deleted',
  stamp: AuditStamp,
): Promise<void> {
  const version = await endRollout(db, plugin, reason, stamp.at);
  if (version === undefined) return;
  await writeAudit(db, { action: 'rollout.stopped', target: plugin, version, details: { reason }, ...stamp });
}

/**
 * Ends the rollouts of a tenant that is about to be deleted, with their entries in the audit log. The transaction must have locked the
 * tenant.
 */
export async function stopRolloutsOf(db: Transaction, tenant: TenantKey, stamp: AuditStamp): Promise<void> {
  const ended = await endRolloutsOf(db, tenant, stamp.at);
  const entries = ended.map(({ plugin, version }) => ({
    action: 'rollout.stopped' as const,
    target: plugin,
    version,
    details: { reason: 'deleted' },
    ...stamp,
  }));
  await writeAudit(db, ...entries);
}

export const rolloutConflict = (message: string) => new ServiceError(409, 'rollout-conflict', message);

const rolloutNotFound = () => notFound('rollout-not-found', 'The plugin never had a rollout.');

const toDetails = ({ startedAt, stopped, ...rest }: RolloutRecord): z.input<typeof rolloutSchema> => ({
  ...rest,
  startedAt: toTime(startedAt),
  ...(stopped && { stopped: { at: toTime(stopped.at), reason: stopped.reason } }),
});
