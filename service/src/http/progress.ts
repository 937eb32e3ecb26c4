import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { json } from './operations/responses.ts';
import { versionDigestOf } from '../storage/tables/digest.ts';
import { operation } from './operations/operation.ts';
import { findPluginRecord } from '../storage/tables/plugin-records.ts';

const pluginProgress = z
  .object({
    built: z.boolean().meta({ description: 'Whether the current draft has a successful build.' }),
    deployed: z
      .object({
        version: z.string().meta({ description: 'The newest version.', examples: ['v1.0.0'] }),
        current: z.boolean().meta({ description: 'Whether it was made of the current draft.' }),
      })
      .optional(),
  })
  .meta({ id: 'Progress' });

/** Whether a plugin is built and deployed, for an editor that shows it when it opens. Not part of the builder interface. */
export const progress: ServiceInterface = {
  operations: [
    operation({
      id: 'getProgress',
      method: 'GET',
      path: '/api/v1/progress/:identifier/:namespace/:pluginName',
      summary: 'Read how far a plugin is',
      tag: 'builder',
      auth: 'editor',
      permission: 'read',
      responses: { 200: json(pluginProgress, { description: 'Whether it is built, and what is deployed.' }) },
      handle: async ({ target }, { storage }) => {
        const found = await findPluginRecord(storage.db, target);
        const built = found?.isBuilt ?? false;
        if (found?.latest === undefined) return { status: 200, body: { built } };
        const { latest, digest, latestDigest, digests } = found;
        const current = versionDigestOf(digest, digests) === latestDigest;
        return { status: 200, body: { built, deployed: { version: latest, current } } };
      },
    }),
  ],
};
