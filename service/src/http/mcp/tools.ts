import * as z from 'zod';
import type { Permission } from '../../plugins/permissions.ts';
import { sourceSchema } from '../../plugins/records.ts';
import { isSameJson } from '../../plugins/same-json.ts';
import { mocksSchema } from '../../outbound/mocked-calls.ts';
import { ServiceError } from '../errors.ts';
import { testType } from '../testing.ts';
import type { PluginSource } from '../../plugins/records.ts';
import { mebibyte } from '../../units.ts';

/** What a tool calls an operation with, beside the plugin. */
export interface OperationInput {
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly language?: string;
}

/** What an operation answered. */
export interface OperationOutput {
  readonly body: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Calls an operation by its id, for the plugin that the tool was called for. */
export type CallOperation = (id: string, input?: OperationInput) => Promise<OperationOutput>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** What a token needs, or the tool is not there. */
  readonly permission: Permission;
  readonly readOnly: boolean;
  /** Whether it replaces what was there before, so that clients ask the person first. */
  readonly replaces?: true;
  /** Whether the result holds texts of plugins or of who called them, which may give orders. */
  readonly isData: boolean;
  /** Whether it is about one plugin, which `namespace` and `name` say. */
  readonly onePlugin: boolean;
  readonly input: z.ZodObject;
  /** May hold more than it names: clients check results, and an operation may say more one day. */
  readonly output: z.ZodObject;
  readonly call: (args: never, operation: CallOperation) => Promise<Record<string, unknown>>;
}

const tool = <Input extends z.ZodObject>(
  declared: Omit<Tool, 'input' | 'call' | 'onePlugin' | 'isData'> & {
    readonly onePlugin?: boolean;
    readonly isData?: boolean;
    readonly input: Input;
    readonly call: (args: z.output<Input>, operation: CallOperation) => Promise<Record<string, unknown>>;
  },
): Tool => ({ onePlugin: true, isData: true, ...declared });

/** How often a text is saved with what else the draft has, while others change that. */
const saveAttempts = 5;

const etag = z.string().describe('The entity tag of the draft.');
const source = z
  .union([z.string(), sourceSchema], { error: 'expected text, or a record { contents, lang, tests? }' })
  .describe(
    'The source: its text, or a record { contents, lang, tests? }. Text keeps language and tests of the draft.',
  );

const diagnostics = z.array(z.looseObject({ message: z.string() }));

const outcome = {
  result: z.string().optional().describe('What the plugin returned, as text.'),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
  logs: z.array(z.string()).optional(),
  truncated: z
    .boolean()
    .optional()
    .describe('Whether result and logs are left out, because together they are too long.'),
  took: z.number().describe('Milliseconds.'),
  calls: z.array(z.looseObject({ url: z.string() })).optional(),
};

/** How many characters of JSON outcomes may have, of one run or of all tests in a result. */
const maxOutcomes = mebibyte;

/** How an outcome says that what the run gave is too long for a result. */
function shorten({ result, logs, ...outcomeAlone }: Record<string, unknown>): Record<string, unknown> {
  const given = { ...(result !== undefined && { result }), ...(logs !== undefined && { logs }) };
  const isTooLong = JSON.stringify(given).length > maxOutcomes;
  return { ...outcomeAlone, ...(isTooLong ? { truncated: true } : given) };
}

/** Runs the draft; `calls`: the responses to its calls, where there are some. */
const testWith = (operation: CallOperation, payload: string, calls: unknown) =>
  calls === undefined
    ? operation('testDraft', { body: payload })
    : operation('testDraft', {
        body: JSON.stringify({ payload, calls }),
        headers: { 'content-type': testType },
      });

/** How a stored test ended. One whose `calls` the service does not take has that as its error. */
async function outcomeOf(...test: Parameters<typeof testWith>): Promise<Record<string, unknown>> {
  try {
    return (await testWith(...test)).body;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 422) throw error;
    const { code, message } = error;
    return { error: { code, message }, took: 0 };
  }
}

/** How many tests `run_tests` runs at once. */
const maxTests = 50;

/** The tools, over the operations of the service. */
export const tools: readonly Tool[] = [
  tool({
    name: 'list_plugins',
    title: 'List plugins',
    description: 'Lists the plugins that the token is for, by namespace and name, and what is live of each.',
    permission: 'read',
    readOnly: true,
    onePlugin: false,
    input: z.object({
      namespace: z.string().min(1).optional().describe('Those of this namespace alone.'),
      after: z.string().optional().describe('`next` of the page before.'),
    }),
    output: z.looseObject({ plugins: z.array(z.looseObject({})), next: z.string().optional() }),
    call: async ({ namespace, after }, operation) =>
      (await operation('listPlugins', { query: { namespace, after } })).body,
  }),
  tool({
    name: 'read_plugin',
    title: 'Read a plugin',
    description: 'Reads the draft of a plugin: its source record with its tests, and its entity tag.',
    permission: 'read',
    readOnly: true,
    input: z.object({}),
    output: z.looseObject({ source: sourceSchema, etag }),
    call: async (_, operation) => readSource(operation),
  }),
  tool({
    name: 'read_types',
    title: 'Read types',
    description: 'Reads what the plugin takes and returns: TypeScript, JSON Schemas and samples.',
    permission: 'read',
    readOnly: true,
    input: z.object({}),
    output: z.looseObject({ declarations: z.string() }),
    call: async (_, operation) => (await operation('getTypes')).body,
  }),
  tool({
    name: 'check',
    title: 'Check a source',
    description: 'Says what a build of the source would find. Saves nothing, and runs nothing.',
    permission: 'write',
    readOnly: true,
    input: z.object({ source }),
    output: z.looseObject({ diagnostics }),
    call: async (args, operation) => {
      const { contents, lang } = await recordOf(args.source, operation);
      return (await operation('checkSource', { language: lang, body: contents })).body;
    },
  }),
  tool({
    name: 'save_draft',
    title: 'Save the draft',
    description:
      'Saves the source as the draft. With `etag`, only if the draft is still the one that was read. Nothing that runs for users changes.',
    permission: 'write',
    readOnly: false,
    replaces: true,
    isData: false,
    input: z.object({ source, etag: etag.optional() }),
    output: z.looseObject({ etag }),
    call: async ({ source: given, etag: expected }, operation) => {
      const save = async (body: PluginSource, tag: string | undefined) => {
        const headers = tag === undefined ? {} : { 'if-match': tag };
        return { etag: (await operation('saveDraft', { body, headers })).headers['etag'] };
      };
      if (typeof given !== 'string') return save(given, expected);
      for (let left = saveAttempts; ; left -= 1) {
        const { source: draft, etag: read } = await readSource(operation);
        try {
          return await save({ ...draft, contents: given }, expected ?? read);
        } catch (error) {
          const hasChanged = error instanceof ServiceError && error.status === 412;
          if (!hasChanged || expected !== undefined || left <= 1) throw error;
        }
      }
    },
  }),
  tool({
    name: 'build',
    title: 'Build the draft',
    description: 'Builds the draft as it is saved. Tests, runs and deploys need a build.',
    permission: 'write',
    readOnly: false,
    input: z.object({}),
    output: z.looseObject({
      succeeded: z.boolean(),
      outputLog: z.string(),
      diagnostics: diagnostics.optional(),
    }),
    call: async (_, operation) => {
      const { source: draft, etag: tag } = await readSource(operation);
      const headers = { 'if-match': tag };
      return (await operation('buildDraft', { language: draft.lang, body: draft.contents, headers })).body;
    },
  }),
  tool({
    name: 'run',
    title: 'Run the draft',
    description:
      'Runs the built draft with an input in the sandbox, without real calls. Nothing is recorded.',
    permission: 'write',
    readOnly: true,
    input: z.object({
      input: z.string().describe('What the plugin gets; JSON as text where it has types.'),
      calls: mocksSchema.optional().describe('The responses to its calls, each of which is used once.'),
    }),
    output: z.looseObject(outcome),
    call: async ({ input, calls }, operation) => shorten((await testWith(operation, input, calls)).body),
  }),
  tool({
    name: 'run_tests',
    title: 'Run the tests',
    description: `Runs the tests of the built draft in the sandbox, without real calls: \`calls\` of a test are their responses. The first ${maxTests}, or those from \`first\` on; fewer where their results are long.`,
    permission: 'write',
    readOnly: true,
    input: z.object({
      first: z.int().min(1).default(1).describe('The number of the first test, from 1 on.'),
    }),
    output: z.looseObject({
      tests: z.array(
        z.looseObject({
          name: z.string().optional(),
          passed: z.boolean().optional().describe('Missing where the test expects nothing.'),
          expected: z.unknown().optional(),
          ...outcome,
        }),
      ),
      total: z.number().describe('How many tests the draft has.'),
    }),
    call: async ({ first }, operation) => {
      const { source: draft } = await readSource(operation);
      const all = draft.tests ?? [];
      const results: Record<string, unknown>[] = [];
      let length = 0;
      for (const { name, payload = '', ...test } of all.slice(first - 1, first - 1 + maxTests)) {
        const { expected, calls } = test as { expected?: unknown; calls?: unknown };
        const body = await outcomeOf(operation, payload, calls);
        const passed =
          body['error'] !== undefined
            ? false
            : expected == null
              ? undefined
              : isExpected(expected, body['result']);
        const tested = {
          ...(name !== undefined && { name }),
          ...(passed !== undefined && { passed }),
          ...(expected != null && { expected }),
          ...shorten(body),
        };
        length += JSON.stringify(tested).length;
        if (results.length && length > maxOutcomes) break;
        results.push(tested);
      }
      return { tests: results, total: all.length };
    },
  }),
  tool({
    name: 'deploy',
    title: 'Deploy the draft',
    description:
      "Makes a version of the built draft, which runs for the vendor's users from then on unless another version is pinned. Ask the person first.",
    permission: 'deploy',
    readOnly: false,
    replaces: true,
    isData: false,
    input: z.object({
      message: z.string().max(500).optional().describe('What is new in the version.'),
      etag: etag.optional(),
    }),
    output: z.looseObject({ version: z.string(), live: z.string() }),
    call: async ({ message, etag: tag }, operation) =>
      (
        await operation('deployDraft', {
          body: message === undefined ? undefined : { message },
          headers: tag === undefined ? {} : { 'if-match': tag },
        })
      ).body,
  }),
  tool({
    name: 'list_runs',
    title: 'List runs',
    description: 'Lists recorded runs of the plugin, newest first.',
    permission: 'runs',
    readOnly: true,
    input: z.object({
      success: z.boolean().optional().describe('Only those that succeeded, or that failed.'),
      version: z.string().optional().describe('Only those of this version, such as v1.0.0.'),
      after: z.string().optional().describe('`next` of the page before.'),
    }),
    output: z.looseObject({ runs: z.array(z.looseObject({})), next: z.string().optional() }),
    call: async ({ success, version, after }, operation) =>
      (
        await operation('listRuns', {
          query: { after, version, success: success === undefined ? undefined : String(success) },
        })
      ).body,
  }),
];

async function readSource(operation: CallOperation): Promise<{ source: PluginSource; etag: string }> {
  const { body, headers } = await operation('readDraft');
  return { source: body as PluginSource, etag: headers['etag'] ?? '' };
}

/** The record that a source stands for: a text alone keeps everything else of the draft. */
async function recordOf(given: string | PluginSource, operation: CallOperation): Promise<PluginSource> {
  if (typeof given !== 'string') return given;
  return { ...(await readSource(operation)).source, contents: given };
}

/** Whether a result is the expected one, by the rule of the editor: as JSON where both are JSON, else as texts. */
function isExpected(expected: unknown, result: unknown): boolean {
  // The integers of a value, unlike those of a text, were rounded when the draft was parsed.
  const isValue = typeof expected !== 'string';
  const wanted = isValue ? JSON.stringify(expected) : expected;
  return wanted === result || isSameJson(wanted, String(result), isValue);
}
