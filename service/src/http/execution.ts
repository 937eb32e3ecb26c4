import type { Context } from 'hono';
import type { ServiceContext, ServiceInterface } from './context.ts';
import type { ErrorList } from './error-codes.ts';
import { notFound, tenantSuspended } from './errors.ts';
import { text } from './operations/responses.ts';
import type { HandlerResponse } from './operations/responses.ts';
import { textBody } from './operations/bodies.ts';
import type { ReadText } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { ProgramRemovedError } from '../storage/tables/programs.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { executionError, translateBusyErrors } from './run-errors.ts';
import { runLimits } from '../sandbox/run-limits.ts';
import { requestInfo } from './request-info.ts';
import type { StoredVersion } from '../plugins/program.ts';

const inputBody = textBody({
  description: 'What the plugin gets: JSON, whatever its type says, where it was built with types.',
  limit: runLimits.input,
  tooLarge: 'input-limit',
  example: 'Ada',
});

const responses = {
  200: text({
    description: 'The output of the plugin: JSON where it was built with types.',
    orJson: true,
    headers: ['x-plugin-version', 'x-suborbital-requestid', 'server-timing'],
  }),
} as const;

const errors: ErrorList = {
  403: ['tenant-suspended'],
  404: ['version-not-found'],
  422: [
    'invalid-input',
    'invalid-output',
    'plugin-error',
    'memory-limit',
    'stack-limit',
    'output-limit',
    'log-limit',
    'module-limit',
  ],
  429: ['too-many-requests'],
  500: ['runner-crashed'],
  503: ['busy', 'cancelled'],
  504: ['time-limit'],
};

/** The execution interface: runs deployed versions for an environment's vendor. */
export const execution: ServiceInterface = {
  operations: [
    // Added first, because the other path would match it, too. No identifier is "name": they all hold a period.
    operation({
      id: 'runPlugin',
      method: 'POST',
      path: '/exec/name/:identifier/:namespace/:pluginName',
      summary: 'Run the live version of a plugin',
      tag: 'execution',
      auth: 'run',
      body: inputBody,
      isQueued: true,
      responses,
      errors,
      handle: ({ c, target, body }, context) =>
        execute(c, context, {
          plugin: target,
          find: () => context.storage.runs.liveVersion(target),
          readInput: body,
        }),
    }),
    operation({
      id: 'runVersion',
      method: 'POST',
      path: '/exec/:identifier/:namespace/:pluginName/:version',
      summary: 'Run a version of a plugin',
      tag: 'execution',
      auth: 'run',
      body: inputBody,
      isQueued: true,
      responses,
      errors,
      handle: ({ c, target, path, body }, context) =>
        execute(c, context, {
          plugin: target,
          find: () => context.storage.runs.version(target, path.version),
          readInput: body,
        }),
    }),
  ],
};

const versionNotFound = () => notFound('version-not-found', 'There is no such version of this plugin.');

interface Execution {
  readonly plugin: PluginKey;
  readonly find: () => Promise<StoredVersion | undefined>;
  readonly readInput: ReadText;
}

async function execute(
  c: Context,
  context: ServiceContext,
  { plugin, find, readInput }: Execution,
): Promise<HandlerResponse<typeof responses>> {
  const request = requestInfo(c);
  const { id, responseHeaders } = request;
  const tenant = await context.storage.runs.tenant(plugin);
  if (tenant?.isSuspended) throw tenantSuspended();
  await context.admission.takeRun(plugin, tenant?.limits.runsPerMinute);
  const program = tenant && (await find());
  if (!program) throw versionNotFound();
  const { isTyped } = program;
  const input = await readInput({ anyType: isTyped });
  const run = {
    program,
    input,
    owner: { ...plugin, token: '' },
    signal: () => c.req.raw.signal,
    onTurn: () => request.held?.checkUnsent(),
  };
  responseHeaders['x-plugin-version'] = program.version;
  const { outcome, took } = await translateBusyErrors(false, () => context.sandbox.runAndMeasure(run)).catch(
    (error: unknown) => {
      // The version was deleted after it was looked up.
      throw error instanceof ProgramRemovedError ? versionNotFound() : error;
    },
  );
  responseHeaders['server-timing'] = `run;dur=${took.toFixed(1)}`;
  // The plugin does not run on input that does not fit its schema.
  const ran = 'error' in outcome && outcome.error.code === 'invalid-input' ? 0 : took;
  context.recorder.record({ id, plugin, version: program, input, outcome, took: ran });
  if ('error' in outcome) {
    request.runError = outcome.error.code;
    throw executionError(outcome.error, outcome.logs);
  }
  // UTF-8 cannot hold a lone surrogate: it becomes U+FFFD.
  return { status: 200, body: outcome.result.toWellFormed(), ...(isTyped && { isJson: true }) };
}
