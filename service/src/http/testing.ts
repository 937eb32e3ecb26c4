import * as z from 'zod';
import type { Context } from 'hono';
import { auditStamp } from './audit-stamp.ts';
import type { EditorCaller } from './auth.ts';
import { mediaTypeOf, parseJson } from './body.ts';
import { compileSource, failureOf, programOf } from './build.ts';
import { notPermitted, ServiceError, tenantDeleted } from './errors.ts';
import { describeIssues, pointerOf } from './operations/issues.ts';
import { callSchema } from './runs/run-schemas.ts';
import { requireBuiltProgram } from './require-draft.ts';
import type { ServiceContext, ServiceInterface } from './context.ts';
import { json } from './operations/responses.ts';
import { jsonBody, refuseMany, textBody } from './operations/bodies.ts';
import type { ReadText } from './operations/bodies.ts';
import { operation } from './operations/operation.ts';
import { requestInfo } from './request-info.ts';
import { requireLanguage } from './require-language.ts';
import { translateBusyErrors } from './run-errors.ts';
import { sourceLimit } from './source-limit.ts';
import { limitsOf, tenantToRun } from './tenant-limits.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { loadedProgram, loadStoredProgram } from '../plugins/program.ts';
import type { StoredProgram } from '../plugins/program.ts';
import type { Db } from '../storage/db.ts';
import { MockedCalls, mocksSchema } from '../outbound/mocked-calls.ts';
import { RunCaller } from '../outbound/run-caller.ts';
import { runErrorCodes } from '../sandbox/outcome.ts';
import { runLimits } from '../sandbox/run-limits.ts';
import { mebibyte } from '../units.ts';

const tested = z
  .object({
    result: z
      .string()
      .optional()
      .meta({ description: 'The output of the plugin as text, which is JSON in a namespace with types.' }),
    error: z
      .object({
        code: z.enum(runErrorCodes),
        message: z.string(),
        path: z.string().optional().meta({
          description: 'A JSON Pointer to what does not fit the schema, in the input or the output.',
        }),
      })
      .optional()
      .meta({ description: 'Why there is no output.' }),
    logs: z
      .array(z.string())
      .optional()
      .meta({ description: 'What the plugin logged, one entry for each time.' }),
    calls: z
      .array(callSchema)
      .optional()
      .meta({ description: 'Its calls, in the order in which they began; real ones with their bodies.' }),
    took: z.number().min(0).meta({ description: 'How long the run alone took, in ms.' }),
  })
  .meta({ id: 'TestRun' });

/** The content type of an input with the responses to calls. */
export const testType = 'application/vnd.plugin-editor.test+json';

const testInput = z
  .object({
    payload: z.string().meta({ description: 'The input of the plugin.' }),
    calls: mocksSchema.optional().meta({
      description:
        'The responses to the calls of the plugin. Each is used once: a call gets the first unused one that matches.',
    }),
  })
  .meta({ id: 'TestInput' });

/**
 * How large such a body may be, in bytes: with an input of the greatest size, in which JSON may escape a line break in two characters,
 * and a response of a mebibyte.
 */
const testLimit = 2 * runLimits.input + mebibyte;

const sourceTest = z
  .object({
    contents: z.string().meta({ description: 'The source.' }),
    payload: z.string().meta({ description: 'The input of the plugin.' }),
    calls: mocksSchema
      .optional()
      .meta({ description: 'The responses to the calls of the plugin, as in `testDraft`.' }),
  })
  .meta({ id: 'SourceTest' });

/** Test runs: of the draft as it is saved, which has to be built, as the builder interface has them; and of any source. */
export const testing: ServiceInterface = {
  features: ['testing'],
  operations: [
    operation({
      id: 'testDraft',
      method: 'POST',
      path: '/api/v1/test/:identifier/:namespace/:pluginName',
      summary: 'Run a draft',
      description: `Runs the saved draft, which must have a successful build. To give responses to its calls, send a body of the type \`${testType}\` with \`calls\`; a call without a response rejects with \`call-not-mocked\`. With \`?calls=real\`, which needs the permission \`deploy\`, the calls are made.`,
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      query: z.object({
        calls: z
          .literal('real')
          .optional()
          .meta({ description: 'Makes the calls of the plugin. The audit log has an entry.' }),
      }),
      body: textBody({
        description: 'The input of the plugin.',
        limit: runLimits.input,
        tooLarge: 'input-limit',
        example: 'Ada',
        json: { type: testType, schema: testInput, limit: testLimit },
      }),
      isQueued: true,
      responses: { 200: json(tested, { description: 'How the run ended: with `result` or with `error`.' }) },
      errors: {
        400: ['invalid-json'],
        403: ['not-permitted', 'tenant-deleted'],
        404: ['draft-not-found'],
        409: ['not-built'],
        422: ['invalid-body', 'too-deep'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, target, caller, query, body }, context) => {
        const { storage } = context;
        const request = requestInfo(c);
        const isReal = query.calls === 'real';
        if (isReal && !caller.permissions.includes('deploy')) throw notPermitted('deploy');
        // The input is read first, so that a client that sends it slowly does not keep a program in memory meanwhile.
        const { payload: input, calls: mocks = [] } = await readInput(c, body);
        const program = await loadBuilt(storage.db, target);
        const connections = await storage.runs.connections(target);
        const calls = isReal
          ? new RunCaller(
              context.outbound,
              {
                plugin: target,
                version: '',
                runId: request.id,
                isTest: true,
                traceparent: request.traceparent,
              },
              { secrets: context.secrets },
            )
          : new MockedCalls(mocks, context.secrets);
        if (isReal && connections.length) {
          const entry = { ...auditStamp(c, caller, context), action: 'test.real-calls', target } as const;
          await context.hourlyEntries.write(storage.db, entry);
        }
        return runTest(c, context, { caller, program, input, connections, calls });
      },
    }),
    operation({
      id: 'testSource',
      method: 'POST',
      path: '/api/v1/test/:language/:identifier/:namespace/:pluginName',
      summary: 'Run a source without saving it',
      description:
        'Builds the source and runs it. Saves nothing, and the build cannot be deployed. Real calls are never made.',
      tag: 'builder',
      auth: 'editor',
      permission: 'write',
      body: jsonBody(sourceTest, {
        description: 'The source, its input and the responses to its calls.',
        limit: sourceLimit,
      }),
      isQueued: true,
      responses: { 200: json(tested, { description: 'How the run ended: with `result` or with `error`.' }) },
      errors: {
        403: ['tenant-deleted'],
        409: ['not-built'],
        429: ['too-many-requests'],
        503: ['busy', 'cancelled'],
      },
      handle: async ({ c, path, target, caller, body }, context) => {
        const { identifier: lang } = requireLanguage(context, path.language);
        const { contents, payload, calls = [] } = body;
        const build = { plugin: target, caller, draft: { lang, contents } };
        const { types, building } = await compileSource(c, context, build, false);
        const built = await translateBusyErrors('user', () => building);
        const program = programOf(built, types);
        if (!program)
          throw new ServiceError(409, 'not-built', `The source does not build: ${failureOf(built)}`);
        return runTest(c, context, {
          caller,
          program: loadedProgram(program),
          input: payload,
          connections: await context.storage.runs.connections(target),
          calls: new MockedCalls(calls, context.secrets),
        });
      },
    }),
  ],
};

interface TestRun {
  readonly caller: EditorCaller;
  readonly program: StoredProgram;
  readonly input: string;
  readonly connections: readonly unknown[];
  readonly calls: MockedCalls | RunCaller;
}

async function runTest(
  c: Context,
  context: ServiceContext,
  { caller, program, input, connections, calls }: TestRun,
) {
  const { sandbox, maxLimits } = context;
  const tenant = await tenantToRun(context, caller.owner);
  if (!tenant) throw tenantDeleted();
  const run = {
    program,
    // In JSON a byte order mark means nothing.
    input: program.isTyped ? input.replace(/^\ufeff/, '') : input,
    limits: limitsOf(tenant, maxLimits.run),
    ...(connections.length && { caller: calls }),
    owner: caller.owner,
    signal: () => c.req.raw.signal,
    onTurn: async () => {
      requestInfo(c).held?.checkUnsent();
      if (!(await tenantToRun(context, caller.owner, 'turn'))) throw tenantDeleted();
    },
  };
  const { outcome, took } = await translateBusyErrors('user', () => sandbox.runAndMeasure(run));
  const { logs, ...resultOrError } = outcome;
  return {
    status: 200 as const,
    body: {
      ...resultOrError,
      ...(logs.length ? { logs } : {}),
      ...(calls.records.length ? { calls: [...calls.records] } : {}),
      took: Math.round(took * 100) / 100,
    },
  };
}

async function readInput(c: Context, readText: ReadText): Promise<z.output<typeof testInput>> {
  const holdsJson = mediaTypeOf(c) === testType;
  const text = await readText({ holdsJson });
  if (!holdsJson) return { payload: text };
  const { success, data, error } = testInput.safeParse(
    await parseJson(text, refuseMany('invalid-body', 'the body', testLimit)),
  );
  if (!success) {
    const message = describeIssues(error.issues, 'the body');
    throw new ServiceError(422, 'invalid-body', message, { path: pointerOf(error.issues) });
  }
  if (Buffer.byteLength(data.payload) > runLimits.input)
    throw new ServiceError(413, 'input-limit', `The payload is larger than ${runLimits.input} bytes.`);
  return data;
}

/** Loads the program of the draft into memory, because the next build may replace it while the test waits for its turn. */
export async function loadBuilt(db: Db, plugin: PluginKey, attempts = 5): Promise<StoredProgram> {
  const built = await requireBuiltProgram(db, plugin);
  try {
    return await loadStoredProgram(built);
  } catch (error) {
    // The next build may have replaced the program after it was looked up.
    if (attempts === 1) throw error;
    return loadBuilt(db, plugin, attempts - 1);
  }
}
