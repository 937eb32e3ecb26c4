import * as z from 'zod/mini';

/** Something that a build found in the source. */
export const diagnosticSchema = z.looseObject({
  /** Counted from 1. */
  line: z.number(),
  /** Counted from 1, in UTF-16 units. */
  column: z.number(),
  message: z.string(),
  /** `error`, `warning`, or what else a builder says. */
  severity: z.optional(z.string()),
});

export const buildResultSchema = z.looseObject({
  succeeded: z.boolean(),
  outputLog: z.string(),
  diagnostics: z.optional(z.array(diagnosticSchema)),
});

export const checkResultSchema = z.looseObject({ diagnostics: z.array(diagnosticSchema) });

/** What a run gave: an answer, or why there is none. Builders write logs as one text or as lines. */
export const testAnswerSchema = z.looseObject({
  result: z.optional(z.string()),
  error: z.optional(z.looseObject({ code: z.optional(z.string()), message: z.string() })),
  logs: z.optional(z.union([z.string(), z.array(z.string())])),
});

/** A deploy: `unchanged` says that the draft was deployed as this version before, and that no other was made. */
export const deployedSchema = z.looseObject({
  version: z.string(),
  unchanged: z.optional(z.boolean()),
});

/** How far a plugin is: whether its draft is built, and the newest version, and whether that is of the draft. */
export const progressSchema = z.looseObject({
  built: z.boolean(),
  deployed: z.optional(z.looseObject({ version: z.string(), current: z.boolean() })),
});

export type Progress = z.output<typeof progressSchema>;
export type Diagnostic = z.output<typeof diagnosticSchema>;
export type Deployed = z.output<typeof deployedSchema>;
export type BuildResult = z.output<typeof buildResultSchema>;

/** What a run gave, in one form. */
export type TestAnswer = ({ result: string } | { error: { code?: string | undefined; message: string } }) & {
  logs: string[];
};
