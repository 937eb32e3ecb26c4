import type { Context } from 'hono';
import { pluginOfPath, requireEditorToken } from './auth.ts';
import { readPlainText } from './body.ts';
import { SupersededError } from '../toolchains/process/superseded.ts';
import { languageOfPath, sourceLimit } from './builder.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { ServiceError } from './errors.ts';
import { route } from './routes.ts';
import { whenNotBusy } from './run-errors.ts';

/**
 * What a build of a source would find, for an editor that checks as one types. Not of the interface; unlike a build it
 * saves nothing, and nothing can be deployed by it. Answers `{ diagnostics }`, or 409 `check-superseded` when the same
 * token asked for a newer check of the plugin before this one had begun.
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
  const share = await requireEditorToken(c, context, plugin);
  const source = await readPlainText(c, sourceLimit);
  const { signal } = c.req.raw;
  const subject = JSON.stringify([plugin.namespace, plugin.pluginName]);
  const end = await whenNotBusy(true, async () => {
    try {
      return await context.builds.check(identifier, { source, share, subject, signal });
    } catch (error) {
      if (error instanceof SupersededError) throw new ServiceError(409, 'check-superseded', error.message);
      throw error;
    }
  });
  const diagnostics =
    'failed' in end
      ? [{ line: 1, column: 1, message: end.failed, severity: 'error' }]
      : end.compiled.diagnostics;
  return c.json({ diagnostics });
}
