import type { Context } from 'hono';
import * as z from 'zod';
import type { EditorCaller } from './auth.ts';
import { noDraft, notBuilt } from './require-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { versionNameSchema } from './environment/plugin-details.ts';
import { json } from './operations/responses.ts';
import { optionalJsonBody } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { checkPreconditions } from './preconditions.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { versionDigestOf } from '../storage/tables/digest.ts';
import { lockPlugin } from '../storage/db.ts';
import type { Transaction } from '../storage/db.ts';
import { checkStorable } from './grant-schemas.ts';
import { writeWithinQuota } from '../storage/tables/tenant-storage.ts';
import { lockDraftState } from '../storage/tables/drafts.ts';
import { addVersion, findLiveVersion, findNewestVersion } from '../storage/tables/versions.ts';
import { readSchemasDigest } from '../storage/tables/namespaces.ts';
import { findBuild } from '../storage/tables/builds.ts';

const longestMessage = 500;

const deployRequest = z
  .object({
    message: z
      .string()
      .max(longestMessage)
      .optional()
      .meta({ description: 'What is new in the version; kept with it.' }),
  })
  .meta({ id: 'DeployRequest' });

const deployed = z
  .object({
    version: versionNameSchema,
    unchanged: z.literal(true).optional().meta({
      description:
        'The draft is what the newest version was made of: that version is returned, and no other is made.',
    }),
    live: versionNameSchema.meta({
      description: 'What runs now where no version is named: a deploy never moves a pin.',
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
        'Makes a version of the draft, which has to have a successful build. Can be tried again where its response was lost: a draft that is what the newest version was made of makes no other one, whether it is built or not.',
      tag: 'builder',
      auth: 'editor',
      permission: 'deploy',
      headers: ['if-match'],
      body: optionalJsonBody(deployRequest, { description: 'A message, or nothing.' }),
      responses: { 200: json(deployed, { description: 'The version.' }) },
      errors: {
        403: ['storage-full'],
        404: ['draft-not-found'],
        409: ['not-built'],
        412: ['precondition-failed'],
      },
      handle: async ({ c, target, caller, body }, context) => ({
        status: 200,
        body: await deployDraft(c, context, target, caller, body?.message),
      }),
    }),
  ],
};

/**
 * Throws 404 without a draft, 412 when the draft is not the one that `If-Match` names, and 409 when it differs from the newest
 * version and has no successful build.
 */
function deployDraft(
  c: Context,
  { storage, now, tenantStorage: allowed }: ServiceContext,
  plugin: PluginKey,
  { actor }: EditorCaller,
  message: string | undefined,
): Promise<z.input<typeof deployed>> {
  checkStorable({ message });
  // In one transaction, so that of several equal deploys at the same time the first adds a version and the others find it.
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
    const schemasDigest = await readSchemasDigest(db, plugin);
    const digest = versionDigestOf(draft.digest, schemasDigest);
    const isUnchanged = newest?.digest === digest;
    if (isUnchanged)
      return { version: newest.version, unchanged: true as const, live: await liveOr(newest.version) };
    const program = await findBuild(db, plugin, draft.buildDigest, schemasDigest);
    if (!program) throw notBuilt();
    const written = { now: now(), actor, message };
    const version = await addVersion(db, plugin, {
      program: program.hash,
      digest,
      schemasDigest,
      ...written,
    });
    return { version, live: await liveOr(version) };

    async function liveOr(newestVersion: string): Promise<string> {
      return (await findLiveVersion(db, plugin))?.version ?? newestVersion;
    }
  }
}
