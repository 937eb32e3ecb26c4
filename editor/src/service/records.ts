import * as z from 'zod/mini';

/** Something that a build found in the source. */
export const diagnosticSchema = z.looseObject({
  /** Counted from 1. */
  line: z.number(),
  /** Counted from 1, in UTF-16 units. */
  column: z.number(),
  message: z.string(),
  /** `error`, `warning`, or another word of the service's. */
  severity: z.optional(z.string()),
});

export const buildResultSchema = z.looseObject({
  succeeded: z.boolean(),
  outputLog: z.string(),
  diagnostics: z.optional(z.array(diagnosticSchema)),
});

export const checkResultSchema = z.looseObject({ diagnostics: z.array(diagnosticSchema) });

/** The result of a run, or its error. Services write logs as one text or as lines. */
export const testResultSchema = z.looseObject({
  result: z.optional(z.string()),
  error: z.optional(
    z.looseObject({
      code: z.optional(z.string()),
      message: z.string(),
      /** Where the input or the output does not fit its type: a JSON Pointer, empty for the whole. */
      path: z.optional(z.string()),
    }),
  ),
  logs: z.optional(z.union([z.string(), z.array(z.string())])),
  /** How long the run took, in ms, without the network. */
  took: z.optional(z.number()),
});

/** A deployment. `unchanged`: the draft is deployed as this version already, and no other version was made. */
export const deployedSchema = z.looseObject({
  version: z.string(),
  unchanged: z.optional(z.boolean()),
  /** What is live now. */
  live: z.optional(z.nullable(z.string())),
});

/** Whether a plugin's draft is built, and its newest version. `current`: that version was made of the draft. */
export const progressSchema = z.looseObject({
  built: z.boolean(),
  deployed: z.optional(z.looseObject({ version: z.string(), current: z.boolean() })),
});

/** What a token permits. */
export const sessionSchema = z.looseObject({ permissions: z.optional(z.array(z.string())) });

/** A plugin, as far as the editor needs it. */
export const pluginSchema = z.looseObject({
  live: z.optional(z.nullable(z.string())),
  latest: z.optional(z.nullable(z.string())),
  pinned: z.optional(z.nullable(z.looseObject({ version: z.string() }))),
  /** Whether the live version was made for other types than the namespace has. */
  outdated: z.optional(z.boolean()),
});

export type Progress = z.output<typeof progressSchema>;
export type Diagnostic = z.output<typeof diagnosticSchema>;
export type Deployed = z.output<typeof deployedSchema>;
export type BuildResult = z.output<typeof buildResultSchema>;
export type PluginState = z.output<typeof pluginSchema>;

/** How a run of the editor ended. */
export type RunOutcome = (
  { result: string } | { error: { code?: string | undefined; message: string; path?: string | undefined } }
) & {
  logs: string[];
  /** How long the run took, in ms; `undefined` where the service does not say. */
  took?: number | undefined;
};
