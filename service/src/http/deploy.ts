import * as z from 'zod';
import { notBuilt, savedDraft } from './built-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { json } from './operations/answers.ts';
import { operation } from './operations/operation.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { isSameSource } from '../plugins/records.ts';

const deployed = z
  .object({
    version: z.string().meta({ example: 'v1.0.0' }),
    unchanged: z.literal(true).optional().meta({
      description:
        'The draft is what the newest version was made of: that version is answered, and no other is made.',
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
      description: 'Makes a version of the draft, which has to have a successful build.',
      tag: 'builder',
      auth: 'editor',
      answers: { 200: json(deployed, { description: 'The version.' }) },
      errors: { 404: ['draft-not-found'], 409: ['not-built'] },
      handle: async ({ target }, context) => ({ status: 200, body: await deployDraft(context, target) }),
    }),
  ],
};

/** Throws 404 without a draft, and 409 when the draft is not what was deployed last and has no successful build. */
function deployDraft({ storage, now }: ServiceContext, plugin: PluginKey): Promise<z.infer<typeof deployed>> {
  // One transaction, so that of several equal deploys at once the first makes a version and the others find it.
  return storage.transaction(async (tables) => {
    await tables.lockPlugin(plugin);
    const source = await savedDraft(tables, plugin);
    const newest = await tables.versions.newestSource(plugin);
    // Before the build is looked at: a deploy whose answer was lost can be tried again, whatever was built since.
    if (newest && isSameSource(newest.source, source)) {
      return { version: newest.version, unchanged: true };
    }
    // Of this very source: the draft may have been saved again meanwhile, which needs no lock.
    const program = await tables.builds.find(plugin, source);
    if (!program) throw notBuilt();
    return { version: await tables.versions.add(plugin, source, program, now()) };
  });
}
