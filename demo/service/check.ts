import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readPlainText } from './body.ts';
import { languageOfPath, sourceLimit } from './builder.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { route } from './routes.ts';
import { whenNotBusy } from './run-errors.ts';

/**
 * What a build of a source would find, for an editor that checks as one types. Not of the interface; unlike a build it
 * saves nothing, and nothing can be deployed by it. Answers `{ diagnostics }`.
 */
export const check: ServiceInterface = {
  routes(app, context) {
    route(app, '/api/v1/check/:language/:identifier/:namespace/:pluginName', {
      POST: (c) => checkSource(c, context),
    });
  },
};

async function checkSource(c: Context, context: ServiceContext): Promise<Response> {
  const { identifier } = languageOfPath(c, context);
  const plugin = pluginOfPath(c);
  requireEditorToken(c, context, plugin);
  const source = await readPlainText(c, sourceLimit);
  const tenant = `${plugin.environment}.${plugin.tenant}`;
  const end = await whenNotBusy(true, async () => context.builds.build(identifier, { source, tenant }));
  const diagnostics =
    'failed' in end
      ? [{ line: 1, column: 1, message: end.failed, severity: 'error' }]
      : end.compiled.diagnostics;
  return c.json({ diagnostics });
}
