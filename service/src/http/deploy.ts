import { isDeepStrictEqual } from 'node:util';
import type { Context } from 'hono';
import * as z from 'zod';
import { writeAudit } from '../audit/entries.ts';
import { auditStamp } from './audit-stamp.ts';
import type { EditorCaller } from './auth.ts';
import { noDraft, notBuilt } from './require-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { allowedStorageOf } from './environment/tenant-details.ts';
import { versionNameSchema } from './environment/plugin-details.ts';
import { json } from './operations/responses.ts';
import { optionalJsonBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { checkPreconditions } from './preconditions.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { versionDigestOf } from '../storage/tables/digest.ts';
import { lockPlugin } from '../storage/db.ts';
import type { Transaction } from '../storage/db.ts';
import { rolloutTermsSchema, rolloutConflict, startRollout } from './environment/rollouts.ts';
import { checkStorable } from './grant-schemas.ts';
import { writeWithinQuota } from '../storage/tables/tenant-storage.ts';
import { lockDraftState } from '../storage/tables/drafts.ts';
import { addVersion, findLiveVersion, findNewestVersion } from '../storage/tables/versions.ts';
import { pinVersion } from '../storage/tables/plugins.ts';
import { readNamespaceDigests } from '../storage/tables/namespaces.ts';
import { findBuild } from '../storage/tables/builds.ts';
import { findRollout } from '../storage/tables/rollouts.ts';

const longestMessage = 500;

const deployRequest = z
  .object({
    message: z.string().max(longestMessage).optional().meta({ description: 'What is new in the version.' }),
    rollout: rolloutTermsSchema.optional().meta({
      description:
        'Starts a rollout of the version, and pins what is live, in one transaction with the deploy.',
    }),
  })
  .meta({ id: 'DeployRequest' });

const deployed = z
  .object({
    version: versionNameSchema,
    unchanged: z.literal(true).optional().meta({
      description:
        'The draft is the same as the newest version: that version is returned, and no other is created.',
    }),
    live: versionNameSchema.meta({
      description: 'The version that runs now when a request names none. A deploy never changes a pin.',
    }),
  })
  .meta({ id: 'Deployed' });

/** The builder interface's deploys: the built draft becomes the plugin's next version, which never changes. */
export const deploy: ServiceInterface = {
  operations: [
    operation({
      id: 'deployDraft',
      method: 'POST',
      path: '/api/v1/draft/:identifier/:namespace/:pluginName/promote',
      summary: 'Deploy a draft',
      description:
        'Creates a version of the draft, which must have a successful build. A deploy whose response was lost can be repeated: a draft that is the same as the newest version creates no other one, whether it is built or not. In that case, a `rollout` is a conflict if the newest version is live, or if there is a rollout of another version or with other terms.',
      tag: 'builder',
      auth: 'editor',
      permission: 'deploy',
      headers: ['if-match'],
      body: optionalJsonBody(deployRequest, { description: 'A message, a rollout, both or nothing.' }),
      responses: { 200: json(deployed, { description: 'The version.' }) },
      errors: {
        403: ['storage-full'],
        404: ['draft-not-found'],
        409: ['not-built', 'rollout-conflict'],
        412: ['precondition-failed'],
      },
      handle: async ({ c, target, caller, body }, context) => ({
        status: 200,
        body: await deployDraft(c, context, target, caller, body ?? {}),
      }),
    }),
  ],
};

const termsOf = (rollout: Partial<z.output<typeof rolloutTermsSchema>> = {}) => ({
  percent: rollout.percent,
  stop: rollout.stop,
});

/**
 * Throws 404 without a draft, 412 when the draft is not the one that `If-Match` names, and 409 when it differs from the newest
 * version and has no successful build.
 */
async function deployDraft(
  c: Context,
  context: ServiceContext,
  plugin: PluginKey,
  caller: EditorCaller,
  { message, rollout }: z.output<typeof deployRequest>,
): Promise<z.input<typeof deployed>> {
  const { storage, now } = context;
  const { actor } = caller;
  checkStorable({ message });
  const stamp = auditStamp(c, caller, context);
  // In one transaction, so that of several equal deploys at the same time the first adds a version and the others find it.
  const allowed = await allowedStorageOf(context, plugin);
  return storage.transaction(async (db) => {
    await lockPlugin(db, plugin);
    return writeWithinQuota(db, plugin, allowed, () => addVersionOf(db));
  }, plugin);

  async function addVersionOf(db: Transaction) {
    const draft = await lockDraftState(db, plugin);
    if (!draft) throw noDraft();
    checkPreconditions(c, draft.etag);
    const newest = await findNewestVersion(db, plugin);
    // Compared before the build is read, so that a deploy whose response was lost can be repeated, whatever was built since.
    const digests = await readNamespaceDigests(db, plugin);
    const digest = versionDigestOf(draft.digest, digests);
    const isUnchanged = newest?.digest === digest;
    if (isUnchanged) {
      const live = await findLiveVersion(db, plugin);
      const running = live?.rollout && (await findRollout(db, plugin));
      // Its deploy may have begun the rollout; then its response was lost.
      const hasBegun =
        running?.version === newest.version && isDeepStrictEqual(termsOf(running), termsOf(rollout));
      if (rollout && running && !hasBegun)
        throw rolloutConflict(
          `${running.version} is being rolled out already, and a deploy does not change that.`,
        );
      if (rollout && !running) await startRollout(db, plugin, { version: newest.version, ...rollout }, stamp);
      return { version: newest.version, unchanged: true as const, live: live?.version ?? newest.version };
    }
    const program = await findBuild(db, plugin, draft.buildDigest, digests);
    if (!program) throw notBuilt();
    const before = rollout && (await findLiveVersion(db, plugin));
    if (rollout && !before)
      throw rolloutConflict('Nothing is live yet: deploy the first version without a rollout.');
    // Pinned before there is a newer version, which would be live without a pin.
    if (before && !before.isPinned) await pinVersion(db, plugin, before.version, { now: stamp.at, actor });
    const written = { now: now(), actor, message };
    const version = await addVersion(db, plugin, { program: program.hash, digest, digests, ...written });
    const live = (await findLiveVersion(db, plugin))?.version ?? version;
    const details = { live, ...(message !== undefined && { message }) };
    await writeAudit(db, { ...stamp, action: 'plugin.deployed', target: plugin, version, details });
    if (rollout) await startRollout(db, plugin, { version, ...rollout }, stamp);
    return { version, live };
  }
}
