import * as z from 'zod/mini';

/** One version in the list of them. */
export const versionSchema = z.looseObject({
  version: z.string(),
  deployedAt: z.string(),
  actor: z.optional(z.nullable(z.string())),
  message: z.optional(z.nullable(z.string())),
  lang: z.optional(z.string()),
  live: z.optional(z.boolean()),
});

export const versionsSchema = z.looseObject({
  versions: z.array(versionSchema),
  next: z.optional(z.nullable(z.string())),
});

/** One run of a deployed version. */
export const runSchema = z.looseObject({
  uuid: z.string(),
  timestamp: z.string(),
  version: z.string(),
  success: z.boolean(),
  error: z.optional(
    z.nullable(z.looseObject({ code: z.optional(z.string()), message: z.optional(z.string()) })),
  ),
  took: z.optional(z.number()),
  logs: z.optional(z.nullable(z.array(z.string()))),
  input: z.optional(z.nullable(z.string())),
  output: z.optional(z.nullable(z.string())),
  truncated: z.optional(z.boolean()),
});

export const runsSchema = z.looseObject({
  runs: z.array(runSchema),
  next: z.optional(z.nullable(z.string())),
});

export type Version = z.output<typeof versionSchema>;
export type VersionList = z.output<typeof versionsSchema>;
export type RunRecord = z.output<typeof runSchema>;
export type RunList = z.output<typeof runsSchema>;
