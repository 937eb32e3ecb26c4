import { pluginOfPath, requireEnvironmentToken } from './auth.ts';
import type { ServiceInterface } from './context.ts';
import { route } from './routes.ts';
import { createToken } from '../accounts/tokens.ts';

/** The access interface: an editor token for one plugin, in exchange for an environment token. */
export const access: ServiceInterface = {
  routes(app, context) {
    const { storage, now, editorTokenTtl } = context;
    const { editorTokens } = storage.tables;
    route(app, '/auth/v2/access/:identifier/:namespace/:ext', {
      GET: async (c) => {
        const plugin = pluginOfPath(c, 'ext');
        await requireEnvironmentToken(c, context, plugin.environment);
        const token = createToken('editor');
        await editorTokens.add(token, plugin, now(), now() + editorTokenTtl * 1000);
        return c.json({ token, expires_in: editorTokenTtl });
      },
    });
  },
};
