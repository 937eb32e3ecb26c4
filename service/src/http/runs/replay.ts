import * as z from 'zod';
import { RecordedCalls } from '../../outbound/recorded-calls.ts';
import type { PluginKey } from '../../plugins/plugin-key.ts';
import { loadStoredProgram } from '../../plugins/program.ts';
import type { StoredProgram } from '../../plugins/program.ts';
import { lowerLevel } from '../../plugins/record-level.ts';
import { isEndedFromOutside } from '../../sandbox/outcome.ts';
import type { QueueOwner } from '../../processes/fair-queue.ts';
import type { AdjustableLimits } from '../../sandbox/run-limits.ts';
import { ReplayLease } from '../../runs/replay-lease.ts';
import { isReplayable, isSameEnding, recordedEnding, replayedEnding } from '../../runs/replay.ts';
import { ProgramRemovedError } from '../../storage/tables/programs.ts';
import { listRuns } from '../../storage/tables/runs.ts';
import type { StoredRun } from '../../storage/tables/runs.ts';
import type { Tenant } from '../../storage/tables/tenants.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { pluginNotFound, versionNameSchema, versionNotFound } from '../environment/plugin-details.ts';
import { notPermitted, ServiceError, tenantSuspended } from '../errors.ts';
import { eventStream } from '../event-stream.ts';
import { checkStorable } from '../grant-schemas.ts';
import { optionalJsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { json } from '../operations/responses.ts';
import { translateBusyErrors } from '../run-errors.ts';
import { limitsOf } from '../tenant-limits.ts';
import { loadBuilt } from '../testing.ts';
import { checkPluginExists } from './runs.ts';

/** How many records are read at once, and how much JSON they may have: a replay keeps no more of them in memory. */
const [recordsAtOnce, bytesAtOnce] = [20, 256 * 1024];

const count = z.int().min(0);

const replaySchema = z
  .object({
    replayed: count.meta({ description: 'How many runs were replayed: `same` + `different` + `failed`.' }),
    same: count.meta({
      description: 'Those that ended with the same output, or the same `code` and `path` of an error.',
    }),
    different: count.meta({
      description: 'Those that ended with another output, or other `code` and `path`, without `failed`.',
    }),
    failed: count.meta({ description: 'Those that failed now and not before.' }),
    skipped: count.meta({
      description: 'Runs that were not replayed, because their input or calls are not recorded whole.',
    }),
  })
  .meta({ id: 'Replay' });

/** The replay of recorded runs. */
export const replay: ServiceInterface = {
  operations: [
    operation({
      id: 'replayRuns',
      method: 'POST',
      path: '/api/v1/plugin/:ident/:namespace/:name/replay',
      summary: 'Replay the newest recorded runs with a draft or a version',
      description:
        'Runs it on their inputs, one after another, and compares the results. Calls get the recorded responses; a call that is not recorded rejects with `call-not-recorded`. Nothing is recorded or changed. The replay ends when the client closes the connection. A tenant can have one replay at a time. An editor token also needs the permission `runs`.',
      tag: 'environment',
      auth: 'editor-or-environment',
      // It is none of the lists that `read` is for, and shows what real runs put out.
      scope: ['manage', 'read'],
      permission: 'write',
      isQueued: true,
      body: optionalJsonBody(
        z
          .object({
            version: versionNameSchema
              .optional()
              .meta({ description: 'The version to run; by default the draft, which must be built.' }),
            limit: z
              .int()
              .min(1)
              .max(200)
              .optional()
              .meta({ description: 'How many of the newest runs; 50 by default.' }),
          })
          .meta({ id: 'ReplayRequest' }),
        { description: 'What to run, and on how many runs.' },
      ),
      responses: {
        200: json(replaySchema, {
          description: 'How many runs ended in the same way.',
          events:
            'An event `result` for each run, newest first: `{ uuid, same, before, after, calls? }`, where `before` and `after` have `output` or `error`, up to 16 KB with `truncated` if it is longer, and `after` has `took`. At the end one `done`, which is the response as JSON; or one `error`, `{ status, error }`. The response is always sent as events.',
        }),
      },
      errors: {
        400: ['invalid-text'],
        403: ['not-permitted', 'tenant-suspended', 'tenant-deleted'],
        404: ['plugin-not-found', 'draft-not-found', 'version-not-found'],
        409: ['not-built', 'no-payloads'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, target, caller, body }, context) => {
        const { storage } = context;
        const isEditor = caller.kind === 'editor';
        if (isEditor && !caller.permissions.includes('runs')) throw notPermitted('runs');
        const { version, limit = 50 } = body ?? {};
        checkStorable({ version });
        const tenant = await requireTenant(context, target);
        await checkPluginExists(storage, target);
        if (lowerLevel(context.maxLimits.records, tenant.limits.records) !== 'payloads') throw noPayloads();
        const program = await findProgram(context, target, version);
        const lease = await ReplayLease.take(storage.db, tenant.id, context.now);
        if (!lease) throw hasReplay();
        const entry = { ...auditStamp(c, caller, context), action: 'runs.replayed', target } as const;
        try {
          await context.hourlyEntries.write(storage.db, entry);
        } catch (error) {
          await lease.end();
          throw error;
        }
        const plan: Plan = {
          plugin: target,
          program,
          limit,
          owner: isEditor ? caller.owner : { ...target, token: caller.tokenId },
          signal: AbortSignal.any([c.req.raw.signal, lease.signal]),
        };
        return eventStream(c, async (send) => {
          try {
            await replayRuns(context, plan, send);
          } finally {
            await lease.end();
          }
        });
      },
    }),
  ],
};

interface Plan {
  readonly plugin: PluginKey;
  readonly program: StoredProgram;
  readonly limit: number;
  readonly owner: QueueOwner;
  /** Is aborted when the client goes, and when the tenant may have another replay. */
  readonly signal: AbortSignal;
}

async function requireTenant({ storage }: ServiceContext, plugin: PluginKey): Promise<Tenant> {
  const tenant = await storage.runs.tenant(plugin);
  if (!tenant) throw pluginNotFound();
  if (tenant.isSuspended) throw tenantSuspended();
  return tenant;
}

/** The program to be replayed, in memory: it may be removed before its last run. */
async function findProgram(
  { storage }: ServiceContext,
  plugin: PluginKey,
  version: string | undefined,
): Promise<StoredProgram> {
  if (version === undefined) return loadBuilt(storage.db, plugin);
  const found = await storage.runs.version(plugin, version);
  if (!found) throw versionNotFound();
  return loadStoredProgram(found).catch((error: unknown) => {
    // Another node has deleted the version, which this one may learn a second later.
    throw error instanceof ProgramRemovedError ? versionNotFound() : error;
  });
}

async function replayRuns(
  context: ServiceContext,
  plan: Plan,
  send: (event: string, data: string) => Promise<void>,
): Promise<void> {
  const { signal, plugin } = plan;
  const counts = { replayed: 0, same: 0, different: 0, failed: 0, skipped: 0 };
  for await (const run of newestRuns(context, plan)) {
    if (signal.aborted || context.isDraining()) throw cancelled();
    // It may have been suspended or deleted meanwhile.
    const tenant = await requireTenant(context, plugin);
    if (!isReplayable(run)) {
      counts.skipped += 1;
      continue;
    }
    const { outcome, took, calls } = await replayRun(
      context,
      plan,
      run,
      limitsOf(tenant, context.maxLimits.run),
    );
    if ('error' in outcome && isEndedFromOutside(outcome.error)) {
      // Its tenant was suspended or deleted, or the service ends.
      await requireTenant(context, plugin);
      throw cancelled();
    }
    const same = isSameEnding(run, outcome);
    const hasFailed = 'error' in outcome && run.code === undefined;
    counts.replayed += 1;
    counts[same ? 'same' : hasFailed ? 'failed' : 'different'] += 1;
    const result = {
      uuid: run.id,
      same,
      before: recordedEnding(run),
      after: { ...replayedEnding(outcome), took: Math.round(took * 100) / 100 },
      ...(calls.length && { calls }),
    };
    await send('result', JSON.stringify(result));
  }
  await send('done', JSON.stringify(counts));
}

/** The newest runs, newest first. */
async function* newestRuns({ storage }: ServiceContext, { plugin, limit }: Plan): AsyncGenerator<StoredRun> {
  let before: string | undefined;
  for (let left = limit; left > 0;) {
    const page = { limit: Math.min(left, recordsAtOnce), before, maxBytes: bytesAtOnce };
    const { runs: found } = await listRuns(storage.db, plugin, {}, page);
    yield* found;
    before = found.at(-1)?.id;
    if (before === undefined) return;
    left -= found.length;
  }
}

async function replayRun(
  context: ServiceContext,
  { plugin, program, owner, signal }: Plan,
  { details: { input = '', calls = [] } }: StoredRun,
  limits: AdjustableLimits | undefined,
) {
  const { sandbox, storage, secrets } = context;
  const connections = await storage.runs.connections(plugin);
  const caller = new RecordedCalls(calls, secrets);
  const run = {
    program,
    input,
    owner,
    limits,
    signal: () => signal,
    onTurn: async () => void (await requireTenant(context, plugin)),
    ...(connections.length && { caller }),
  };
  const { outcome, took } = await translateBusyErrors('user', () => sandbox.runAndMeasure(run)).catch(
    (error: unknown) => {
      // Where the lease was lost, the client is still there.
      throw signal.aborted ? cancelled() : error;
    },
  );
  return { outcome, took, calls: caller.records };
}

const cancelled = () =>
  new ServiceError(503, 'cancelled', 'The replay was cancelled before its end.', {
    headers: { 'retry-after': '1' },
  });

const hasReplay = () =>
  new ServiceError(
    429,
    'too-many-requests',
    'A replay of this tenant is running already; try again when it has ended.',
    { headers: { 'retry-after': '5' } },
  );

const noPayloads = () =>
  new ServiceError(
    409,
    'no-payloads',
    'Inputs of runs are not recorded: RUN_RECORDS, and the limit `records` of this tenant where it has one, must be payloads.',
  );
