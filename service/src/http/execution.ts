import type { Context } from 'hono';
import type { ServiceContext, ServiceInterface } from './context.ts';
import type { ErrorList } from './error-codes.ts';
import { notFound } from './errors.ts';
import { isEndedFromOutside } from '../sandbox/outcome.ts';
import type { LoggedOutcome } from '../sandbox/outcome.ts';
import { text } from './operations/responses.ts';
import type { HandlerResponse } from './operations/responses.ts';
import { textBody } from './operations/bodies.ts';
import type { ReadText } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { RunCaller } from '../outbound/run-caller.ts';
import { ProgramRemovedError } from '../storage/tables/programs.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { executionError, translateBusyErrors } from './run-errors.ts';
import { limitsOf, tenantToRun } from './tenant-limits.ts';
import { runLimits } from '../sandbox/run-limits.ts';
import { lowerLevel } from '../plugins/record-level.ts';
import { requestInfo } from './request-info.ts';
import type { StoredVersion } from '../plugins/program.ts';
import { isInShare, rolloutKey } from '../plugins/rollout.ts';
import type { RolloutCount } from '../storage/tables/rollouts.ts';
import type { LiveVersion } from '../storage/tables/versions.ts';

const inputBody = textBody({
  description:
    'The input of the plugin. If it was built with types, this must be JSON, whatever the content type is.',
  limit: runLimits.input,
  tooLarge: 'input-limit',
  example: 'Ada',
});

const responses = {
  200: text({
    description: 'The output of the plugin; JSON if it was built with types.',
    orJson: true,
    headers: ['x-plugin-version', 'x-suborbital-requestid', 'server-timing'],
  }),
} as const;

const errors: ErrorList = {
  403: ['tenant-suspended', 'tenant-deleted'],
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
  504: ['time-limit', 'wait-limit'],
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
      description: 'During a rollout, a share of the runs gets the version that is rolled out.',
      tag: 'execution',
      auth: 'run',
      scope: 'run',
      headers: ['x-rollout-key', 'traceparent'],
      body: inputBody,
      isQueued: true,
      responses,
      errors,
      handle: ({ c, target, caller, body }, context) =>
        execute(c, context, {
          plugin: target,
          tokenId: caller.tokenId,
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
      scope: 'run',
      headers: ['traceparent'],
      body: inputBody,
      isQueued: true,
      responses,
      errors,
      handle: ({ c, target, path, caller, body }, context) =>
        execute(c, context, {
          plugin: target,
          version: path.version,
          tokenId: caller.tokenId,
          find: () => context.storage.runs.version(target, path.version),
          readInput: body,
        }),
    }),
  ],
};

const versionNotFound = ({ plugin, version }: Execution) => {
  const which = version === undefined ? 'version' : `version ${version}`;
  return notFound('version-not-found', `No ${which} of the plugin "${plugin.pluginName}" is deployed.`);
};

interface Execution {
  readonly plugin: PluginKey;
  /** The version that the address names, if any. */
  readonly version?: string;
  readonly tokenId: string;
  readonly find: () => Promise<StoredVersion | LiveVersion | undefined>;
  readonly readInput: ReadText;
}

async function execute(
  c: Context,
  context: ServiceContext,
  asked: Execution,
): Promise<HandlerResponse<typeof responses>> {
  const { plugin, tokenId, find, readInput } = asked;
  const request = requestInfo(c);
  const { id, responseHeaders, traceparent } = request;
  const tenant = await tenantToRun(context, plugin);
  await context.admission.takeRun(plugin, tenant?.limits.runsPerMinute);
  const found = tenant && (await find());
  if (!found) throw versionNotFound(asked);
  const chosen = chooseVersion(found, rolloutKey(c.req.header('x-rollout-key'), id));
  const { program } = chosen;
  const { isTyped } = program;
  const input = await readInput({ holdsJson: isTyped });
  const connections = await context.storage.runs.connections(plugin);
  const { version } = program;
  const { records: level } = tenant.limits;
  const keepsPayloads = lowerLevel(context.maxLimits.records, level) === 'payloads';
  const caller = connections.length
    ? new RunCaller(
        context.outbound,
        { plugin, version, runId: id, isTest: false, traceparent },
        keepsPayloads ? { secrets: context.secrets } : undefined,
      )
    : undefined;
  const run = {
    program,
    input,
    owner: { ...plugin, token: tokenId },
    signal: () => c.req.raw.signal,
    onTurn: async () => {
      request.held?.checkUnsent();
      if (!(await tenantToRun(context, plugin, 'turn'))) throw versionNotFound(asked);
    },
    limits: limitsOf(tenant, context.maxLimits.run),
    caller,
  };
  responseHeaders['x-plugin-version'] = version;
  const { outcome, took, waited } = await translateBusyErrors('vendor', () =>
    context.sandbox.runAndMeasure(run),
  ).catch((error: unknown) => {
    // The version was deleted after it was looked up.
    throw error instanceof ProgramRemovedError ? versionNotFound(asked) : error;
  });
  responseHeaders['server-timing'] = `run;dur=${took.toFixed(1)}`;
  // The plugin does not run on input that does not fit its schema.
  const ran = 'error' in outcome && outcome.error.code === 'invalid-input' ? 0 : took;
  countEnding(context, plugin, chosen, outcome);
  context.recorder.record({
    id,
    plugin,
    version: program,
    input,
    outcome,
    took: ran,
    ...(caller && { waited, calls: caller.records }),
    level,
    traceparent,
  });
  if ('error' in outcome) {
    request.runError = outcome.error.code;
    throw executionError(outcome.error, outcome.logs);
  }
  // UTF-8 cannot hold a lone surrogate: it becomes U+FFFD.
  return { status: 200, body: outcome.result.toWellFormed(), ...(isTyped && { isJson: true }) };
}

/** The version that a run gets, and where another one is rolled out, on which side of that the run is. */
interface ChosenVersion {
  readonly program: StoredVersion;
  readonly side?: Pick<RolloutCount, 'pluginId' | 'number' | 'isCandidate'>;
}

function chooseVersion(found: StoredVersion | LiveVersion, key: string): ChosenVersion {
  const { pluginId } = found;
  const rollout = 'rollout' in found ? found.rollout : undefined;
  if (!rollout) return { program: found };
  const { percent, number, version } = rollout;
  const isCandidate = isInShare(percent, `${pluginId} ${version.version}`, key);
  return { program: isCandidate ? version : found, side: { pluginId, number, isCandidate } };
}

/** Counts how a run has ended, for the health of its plugin and its rollout, unless it was ended from outside. */
function countEnding(
  { pluginHealth, rolloutCounter }: ServiceContext,
  plugin: PluginKey,
  { program, side }: ChosenVersion,
  outcome: LoggedOutcome,
): void {
  if ('error' in outcome && isEndedFromOutside(outcome.error)) return;
  const hasFailed = 'error' in outcome && outcome.error.code !== 'invalid-input';
  pluginHealth.count(plugin, program.pluginId, hasFailed);
  if (side) rolloutCounter.count({ ...side, runs: 1, failures: hasFailed ? 1 : 0 });
}
