import * as z from 'zod/mini';
import { pluginTestSchema } from '../records.ts';

// What clients read with an editor token; see docs/reference/operations.md. Times are ISO 8601. Records keep the fields that
// are not named here.

/** A plugin: its draft, its versions and what is live. */
export const pluginSchema = z.looseObject({
  ident: z.string(),
  namespace: z.string(),
  name: z.string(),
  lang: z.string(),
  /** `revision` is the draft's ETag. `null` if nothing was saved. */
  draft: z.nullable(
    z.looseObject({ revision: z.string(), savedAt: z.string(), actor: z.optional(z.string()) }),
  ),
  /** Whether the current draft has a successful build, and so can be deployed. */
  built: z.boolean(),
  /** The version that runs when none is named; `null` before the first deploy. */
  live: z.nullable(z.string()),
  /** The newest version; `null` before the first deploy. */
  latest: z.nullable(z.string()),
  /** The version that stays live whatever is deployed, since when and by whom; `null` while the newest is live. */
  pinned: z.nullable(z.looseObject({ version: z.string(), at: z.string(), actor: z.optional(z.string()) })),
  /** The number of versions. */
  versions: z.number(),
  /** Whether the live version was built with other schemas or libraries than its namespace has now. */
  outdated: z.boolean(),
});

const version = {
  version: z.string(),
  deployedAt: z.string(),
  /** The vendor's id for the person who deployed it. */
  actor: z.optional(z.string()),
  /** The message of the deploy. */
  message: z.optional(z.string()),
  lang: z.string(),
  /** SHA-256 of what it was made of, in hex. */
  digest: z.string(),
  live: z.boolean(),
};

/** A deployed version, as a list of them has it. */
const versionSchema = z.looseObject(version);

/** A deployed version with its source. */
export const versionSourceSchema = z.looseObject({
  ...version,
  contents: z.string(),
  tests: z.optional(z.array(pluginTestSchema)),
  /** The JSON Schemas of input and output with which it was built; a missing one is any JSON, or text if both are missing. */
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
});

/** The last rollout of a plugin. */
export const rolloutSchema = z.looseObject({
  version: z.string(),
  /** How many of 100 runs that name no version get it. */
  percent: z.number(),
  startedAt: z.string(),
  actor: z.optional(z.string()),
  /** When it ends by itself. */
  stop: z.optional(z.looseObject({ runs: z.number(), failures: z.number() })),
  /** How many runs got the version; `failures`: how many of them failed. */
  runs: z.number(),
  failures: z.number(),
  /** The same for the live version, since the rollout started. */
  live: z.looseObject({ version: z.string(), runs: z.number(), failures: z.number() }),
  /** When and why it ended, `ended`, `live-set` or `failures`; missing until then. */
  stopped: z.optional(z.looseObject({ at: z.string(), reason: z.string() })),
});

/** Why a plugin failed. The texts come from whoever wrote the plugin. @internal */
const failureSchema = z.looseObject({
  code: z.string(),
  message: z.optional(z.string()),
  path: z.optional(z.string()),
});

/** What a plugin logged, one item for each time that it logged. */
const logsSchema = z.optional(z.array(z.string()));

/** A call of a run. */
export const callSchema = z.looseObject({
  /** The name of the connection; empty if none permits the call. */
  connection: z.string(),
  method: z.string(),
  /** Without the query. */
  url: z.string(),
  status: z.optional(z.number()),
  /** The code of the error, if the call failed. */
  error: z.optional(z.string()),
  /** In ms. */
  took: z.number(),
  requestBytes: z.number(),
  responseBytes: z.number(),
  requestType: z.optional(z.string()),
  /** The first 16 KB, as `responseBody`. Bodies, types, `errorMessage` and `digest` are in `getRun`, if payloads are recorded, and in real tests. */
  requestBody: z.optional(z.string()),
  responseType: z.optional(z.string()),
  responseBody: z.optional(z.string()),
  /** The message of the error that the plugin got. */
  errorMessage: z.optional(z.string()),
  /** Whether a body was longer than what is recorded, or is not text. */
  truncated: z.optional(z.boolean()),
  /** A keyed hash: requests with the same whole address and body have the same. */
  digest: z.optional(z.string()),
});

/** One recorded run. */
export const runSchema = z.looseObject({
  uuid: z.string(),
  timestamp: z.string(),
  ident: z.string(),
  namespace: z.string(),
  name: z.string(),
  version: z.string(),
  success: z.boolean(),
  error: z.optional(failureSchema),
  /** How long the run alone took, in ms. */
  took: z.number(),
  /** How long it waited for calls and timers, in ms; only if it may make calls. */
  waited: z.optional(z.number()),
  /** The header `traceparent` of its request. */
  traceparent: z.optional(z.string()),
  inputBytes: z.number(),
  outputBytes: z.number(),
  /** Its calls, in the order in which they began. */
  calls: z.optional(z.array(callSchema)),
  logs: logsSchema,
  /** The first 16 KB of the input, as `output` of the output; both only if the service records payloads. */
  input: z.optional(z.string()),
  output: z.optional(z.string()),
  /** Whether logs, input or output were longer than what is recorded. */
  truncated: z.optional(z.boolean()),
});

/** A page of plugins; `next`, where there is more, is `after` of the next page. */
export const pluginPageSchema = z.looseObject({
  plugins: z.array(pluginSchema),
  next: z.optional(z.string()),
});

/** A page of versions; `next`, where there is more, is `after` of the next page. */
export const versionPageSchema = z.looseObject({
  versions: z.array(versionSchema),
  next: z.optional(z.string()),
});

/** A page of runs; `next`, where there is more, is `after` of the next page. */
export const runPageSchema = z.looseObject({ runs: z.array(runSchema), next: z.optional(z.string()) });

/** How a run ended: with an output or with an error. */
const ending = {
  /** The first 16 KB of the output. */
  output: z.optional(z.string()),
  error: z.optional(failureSchema),
  /** Whether the output is longer. */
  truncated: z.optional(z.boolean()),
};

/** One recorded run, and how the same input ended in the replay. */
export const replayResultSchema = z.looseObject({
  uuid: z.string(),
  /** Whether both ended with the same output, or with the same `code` and `path` of an error. */
  same: z.boolean(),
  before: z.looseObject(ending),
  /** `took`: how long the run alone took, in ms. */
  after: z.looseObject({ ...ending, took: z.number() }),
  /** The calls of the replayed run, which were answered from the record. */
  calls: z.optional(z.array(callSchema)),
});

/** The result of a replay, as numbers of runs: `replayed` is `same` + `different` + `failed`. */
export const replaySchema = z.looseObject({
  replayed: z.number(),
  same: z.number(),
  different: z.number(),
  /** Runs that failed now and not before. */
  failed: z.number(),
  /** Runs that were not replayed, because their input or calls are not recorded whole. */
  skipped: z.number(),
});

/** An example of an input and its output, for a namespace with types. */
export const sampleSchema = z.looseObject({
  name: z.string(),
  description: z.optional(z.string()),
  input: z.unknown(),
  output: z.optional(z.unknown()),
});

/** The types of a plugin's input and output. `input` and `output` are JSON Schemas (2020-12); a missing one is any JSON, or text if both are missing. */
export const pluginTypesSchema = z.looseObject({
  /** TypeScript, or Python if you asked for it; empty if plugins take and return text. */
  declarations: z.string(),
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
  samples: z.optional(z.array(sampleSchema)),
  /** What `fetch` may reach, missing without `fetch`. `origin` has a `*` if the tenant has no origin yet. */
  connections: z.optional(
    z.array(
      z.looseObject({
        name: z.string(),
        description: z.optional(z.string()),
        /** With `*` where the tenant has none yet. */
        origin: z.string(),
        /** Default: `/`. */
        pathPrefix: z.optional(z.string()),
        /** Default: only `GET`. */
        methods: z.optional(z.array(z.string())),
      }),
    ),
  ),
  /** What plugins in JavaScript and TypeScript may import; missing if there is nothing. */
  libraries: z.optional(
    z.array(
      z.looseObject({
        name: z.string(),
        version: z.string(),
        description: z.optional(z.string()),
        /** Its first 100 names; `default` for a default export. */
        exports: z.array(z.string()),
      }),
    ),
  ),
});

/** How much storage a tenant takes, in MiB. */
export const usageSchema = z.looseObject({
  /** Drafts, versions and programs. */
  storageMb: z.number(),
  /** Records of runs. */
  recordsMb: z.number(),
  /** How much `storageMb` may be; missing if there is no limit. */
  allowedStorageMb: z.optional(z.number()),
});

/** What a token allows, and for which plugins. */
export const sessionSchema = z.looseObject({
  environment: z.string(),
  ident: z.optional(z.string()),
  namespace: z.optional(z.string()),
  fn: z.optional(z.string()),
  permissions: z.array(z.string()),
  /** Only for an environment token. */
  scopes: z.optional(z.array(z.string())),
  actor: z.optional(z.string()),
  /** How long it is still valid, in seconds; missing if it does not end by itself. */
  expires_in: z.optional(z.number()),
  /** Only for an editor token. */
  usage: z.optional(usageSchema),
});

/** An error or a warning of a build or a check. */
const diagnosticSchema = z.looseObject({
  /** From 1. */
  line: z.number(),
  /** From 1, in UTF-16 code units. */
  column: z.number(),
  message: z.string(),
  /** `error`, `warning` or `information`. */
  severity: z.string(),
});

/** The errors and warnings of a check. */
export const checkResultSchema = z.looseObject({ diagnostics: z.array(diagnosticSchema) });

/** Help with a source. `result` is what the Language Server Protocol defines for the method that was requested. */
export const languageHelpSchema = z.looseObject({ result: z.unknown() });

/** Whether a plugin is built and deployed. */
export const progressSchema = z.looseObject({
  /** Whether the current draft has a successful build. */
  built: z.boolean(),
  /** The newest version, if there is one; `current`: whether it was made of the current draft. */
  deployed: z.optional(z.looseObject({ version: z.string(), current: z.boolean() })),
});

/** The result of a build, also of one that failed. */
export const buildResultSchema = z.looseObject({
  succeeded: z.boolean(),
  /** Everything that was logged, in lines. */
  outputLog: z.string(),
  diagnostics: z.optional(z.array(diagnosticSchema)),
});

/** The result of a test: `result` is the plugin's output; `error` says why there is none. */
export const testResultSchema = z.looseObject({
  result: z.optional(z.string()),
  error: z.optional(failureSchema),
  logs: logsSchema,
  /** How long the run alone took, in ms. */
  took: z.optional(z.number()),
  /** Its calls, in the order in which they began. */
  calls: z.optional(z.array(callSchema)),
});

/** The result of a deploy. */
export const deploymentSchema = z.looseObject({
  version: z.string(),
  /** `true`: the draft is the same as this version, so no other was created. */
  unchanged: z.optional(z.boolean()),
  /** The version that is live now. A deploy never changes a pin. */
  live: z.optional(z.nullable(z.string())),
});

export type Plugin = z.output<typeof pluginSchema>;
export type PluginVersion = z.output<typeof versionSchema>;
export type PluginVersionSource = z.output<typeof versionSourceSchema>;
export type Rollout = z.output<typeof rolloutSchema>;
export type PluginRun = z.output<typeof runSchema>;
export type PluginPage = z.output<typeof pluginPageSchema>;
export type VersionPage = z.output<typeof versionPageSchema>;
export type RunPage = z.output<typeof runPageSchema>;
export type ReplayResult = z.output<typeof replayResultSchema>;
export type Replay = z.output<typeof replaySchema>;
export type PluginTypes = z.output<typeof pluginTypesSchema>;
export type StorageUsage = z.output<typeof usageSchema>;
export type Session = z.output<typeof sessionSchema>;
export type Diagnostic = z.output<typeof diagnosticSchema>;
export type CheckResult = z.output<typeof checkResultSchema>;
export type LanguageHelp = z.output<typeof languageHelpSchema>;
export type Progress = z.output<typeof progressSchema>;
export type Sample = z.output<typeof sampleSchema>;
export type BuildResult = z.output<typeof buildResultSchema>;
export type RecordedCall = z.output<typeof callSchema>;
export type TestResult = z.output<typeof testResultSchema>;
export type Deployment = z.output<typeof deploymentSchema>;
