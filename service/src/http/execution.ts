import type { Context } from 'hono';
import { pluginOfPath, requireRunToken } from './auth.ts';
import { readPlainText } from './body.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { badRequest, notFound, ServiceError } from './errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { pathParameter, route } from './routes.ts';
import { executionStatus, whenNotBusy } from './run-errors.ts';
import { runLimits } from '../sandbox/outcome.ts';
import type { StoredProgram } from '../plugins/program.ts';

/** The execution interface: runs deployed versions for an environment's vendor. */
export const execution: ServiceInterface = {
  routes(app, context) {
    const { runs } = context.storage;
    // Before the other path, which it looks like: no identifier is "name", they all hold a period.
    route(app, '/exec/name/:identifier/:namespace/:pluginName', {
      POST: (c) => execute(c, context, (plugin) => runs.newestVersion(plugin)),
    });
    route(app, '/exec/:identifier/:namespace/:pluginName/:version', {
      POST: (c) =>
        execute(c, context, (plugin) => {
          const version = pathParameter(c, 'version');
          if (!/^v\d+\.\d+\.\d+$/.test(version)) {
            throw badRequest('invalid-path', "The path's version must be of the form v1.0.0.");
          }
          return runs.version(plugin, version);
        }),
    });
  },
};

async function execute(
  c: Context,
  context: ServiceContext,
  find: (plugin: PluginKey) => Promise<StoredProgram | undefined>,
): Promise<Response> {
  const plugin = pluginOfPath(c);
  await requireRunToken(c, context, plugin.environment);
  const program = await find(plugin);
  if (!program) throw notFound('version-not-found', 'There is no such version of this plugin.');
  const input = await readPlainText(c, runLimits.input, 'input-limit');
  const run = { program, input, share: { ...plugin, token: '' }, signal: () => c.req.raw.signal };
  const end = await whenNotBusy(false, () => context.sandbox.run(run));
  if ('error' in end)
    throw new ServiceError(executionStatus(end.error.code), end.error.code, end.error.message);
  // Half a surrogate pair is no character and has no place in UTF-8: it becomes U+FFFD.
  return c.body(end.result.toWellFormed(), 200, { 'content-type': 'text/plain; charset=utf-8' });
}
