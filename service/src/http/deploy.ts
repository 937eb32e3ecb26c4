import { pluginOfPath, requireEditorToken } from './auth.ts';
import { notBuilt, savedDraft } from './built-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { requestInfo } from './request-info.ts';
import { route } from './routes.ts';

/** The builder interface's deploys: the built draft becomes the plugin's next version, which never changes. */
export const deploy: ServiceInterface = {
  routes(app, context) {
    route(app, '/api/v1/draft/:identifier/:namespace/:pluginName/promote', {
      POST: async (c) => {
        const plugin = pluginOfPath(c);
        await requireEditorToken(c, context, plugin, 'deploy');
        return c.json(await deployDraft(context, plugin, requestInfo(c).actor));
      },
    });
  },
};

/** What a deploy answers. */
interface Deployed {
  version: string;
  /** The draft is what the newest version was made of: that version is answered, and no other is made. */
  unchanged?: true;
}

/** Throws 404 without a draft, and 409 when the draft is not what was deployed last and has no successful build. */
function deployDraft(
  { storage, now }: ServiceContext,
  plugin: PluginKey,
  actor: string | undefined,
): Promise<Deployed> {
  // One transaction, so that of several equal deploys at once the first makes a version and the others find it.
  return storage.transaction(async (tables) => {
    await tables.lockPlugin(plugin);
    const { source, digest } = await savedDraft(tables, plugin);
    const newest = await tables.versions.newest(plugin);
    // Before the build is looked at: a deploy whose answer was lost can be tried again, whatever was built since.
    if (newest?.digest === digest) {
      return { version: newest.version, unchanged: true };
    }
    // Of this very source: the draft may have been saved again meanwhile, which needs no lock.
    const program = await tables.builds.find(plugin, source);
    if (!program) throw notBuilt();
    return { version: await tables.versions.add(plugin, source, program, { now: now(), actor }) };
  });
}
