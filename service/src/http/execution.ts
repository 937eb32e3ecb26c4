import type { Context } from 'hono';
import { pluginOfPath, requireRunToken } from './auth.ts';
import { readPlainText } from './body.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { badRequest, notFound } from './errors.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { pathParameter, route } from './routes.ts';
import { executionStatus, RunFailedError, whenNotBusy } from './run-errors.ts';
import { runLimits } from '../sandbox/outcome.ts';
import { requestInfo } from './request-info.ts';
import type { StoredVersion } from '../plugins/program.ts';

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
  find: (plugin: PluginKey) => Promise<StoredVersion | undefined>,
): Promise<Response> {
  // The id of the request is the run's, too.
  const request = requestInfo(c);
  const { id, answerHeaders } = request;
  answerHeaders['x-suborbital-requestid'] = id;
  const plugin = pluginOfPath(c);
  await requireRunToken(c, context, plugin.environment);
  await context.limits.takeRun(plugin);
  const program = await find(plugin);
  if (!program) throw notFound('version-not-found', 'There is no such version of this plugin.');
  const input = await readPlainText(c, runLimits.input, 'input-limit');
  const run = { program, input, share: { ...plugin, token: '' }, signal: () => c.req.raw.signal };
  answerHeaders['x-plugin-version'] = program.version;
  const { outcome: end, took } = await whenNotBusy(false, () => context.sandbox.runAndMeasure(run));
  answerHeaders['server-timing'] = `run;dur=${took.toFixed(1)}`;
  context.recorder.record({ id, plugin, version: program, input, outcome: end, took });
  if ('error' in end) {
    request.runError = end.error.code;
    throw new RunFailedError(executionStatus(end.error.code), end.error, end.logs);
  }
  // Half a surrogate pair is no character and has no place in UTF-8: it becomes U+FFFD.
  return c.body(end.result.toWellFormed(), 200, { 'content-type': 'text/plain; charset=utf-8' });
}
