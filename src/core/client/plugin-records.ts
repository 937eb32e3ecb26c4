import * as z from 'zod/mini';
import { flag, number, optionalNumber, optionalText, orNull, text, textOrNull } from '../fields.ts';
import { pluginTestSchema } from '../records.ts';

/*
 * What can be read about plugins with an editor token and with an environment token alike; see docs/reference/operations.md.
 * Times are ISO 8601. Records keep the fields that are not named here.
 */

/** A plugin and what is live of it. */
export const pluginSchema = z.looseObject({
  ident: text,
  namespace: text,
  name: text,
  lang: text,
  /** `null` where nothing was saved; `revision` is the draft's ETag. */
  draft: orNull(z.looseObject({ revision: text, savedAt: text, actor: optionalText })),
  /** Whether the draft as it is has a successful build, and so can be deployed. */
  built: flag,
  /** The version that runs where none is named; `null` where none was deployed. */
  live: textOrNull,
  /** The version that was deployed last. */
  latest: textOrNull,
  /** Which version was made live in place of the newest, when and by whom; `null` where it is the newest. */
  pinned: orNull(z.looseObject({ version: text, at: text, actor: optionalText })),
  /** The number of versions. */
  versions: number,
  /** Whether the live version was made for other types than its namespace has now. */
  outdated: flag,
});

const version = {
  version: text,
  deployedAt: text,
  /** Who deployed it, by the vendor's name for them. */
  actor: optionalText,
  /** The message of the deploy. */
  message: optionalText,
  lang: text,
  /** SHA-256 in hex. */
  digest: text,
  live: flag,
};

/** A deployed version, as a list of them has it. */
export const versionSchema = z.looseObject(version);

/** A deployed version with its source. */
export const versionSourceSchema = z.looseObject({
  ...version,
  contents: text,
  tests: z.optional(z.array(pluginTestSchema)),
});

/** Why a plugin failed. The texts come from whoever wrote the plugin. */
export const failureSchema = z.looseObject({ code: text, message: optionalText, path: optionalText });

/** What a plugin logged, one item for each time that it logged. */
export const logsSchema = z.optional(z.array(text));

/** One recorded run. */
export const runSchema = z.looseObject({
  uuid: text,
  timestamp: text,
  ident: text,
  namespace: text,
  name: text,
  version: text,
  success: flag,
  error: z.optional(failureSchema),
  /** How long the run alone took, in ms. */
  took: number,
  inputBytes: number,
  outputBytes: number,
  logs: logsSchema,
  /** The first 16 KB of the input, as `output` has those of the output; both only where the service keeps payloads. */
  input: optionalText,
  output: optionalText,
  /** Whether the logs, the input or the output were longer, and so were cut. */
  truncated: z.optional(flag),
});

/** A page of plugins; `next`, where there is more, is `after` of the next page. */
export const pluginPageSchema = z.looseObject({ plugins: z.array(pluginSchema), next: optionalText });

/** A page of versions; `next`, where there is more, is `after` of the next page. */
export const versionPageSchema = z.looseObject({ versions: z.array(versionSchema), next: optionalText });

/** A page of runs; `next`, where there is more, is `after` of the next page. */
export const runPageSchema = z.looseObject({ runs: z.array(runSchema), next: optionalText });

/** The types of a plugin's input and output. `declarations` is TypeScript. */
export const pluginTypesSchema = z.looseObject({ declarations: text });

/** What a token may do, and where. */
export const sessionSchema = z.looseObject({
  environment: text,
  ident: optionalText,
  namespace: optionalText,
  fn: optionalText,
  permissions: z.array(text),
  actor: optionalText,
  /** In seconds; missing for a token that does not end by itself. */
  expires_in: optionalNumber,
});

export type Plugin = z.output<typeof pluginSchema>;
export type PluginVersion = z.output<typeof versionSchema>;
export type PluginVersionSource = z.output<typeof versionSourceSchema>;
export type PluginRun = z.output<typeof runSchema>;
export type PluginPage = z.output<typeof pluginPageSchema>;
export type VersionPage = z.output<typeof versionPageSchema>;
export type RunPage = z.output<typeof runPageSchema>;
export type PluginTypes = z.output<typeof pluginTypesSchema>;
export type Session = z.output<typeof sessionSchema>;
