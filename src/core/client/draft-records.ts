import * as z from 'zod/mini';
import { flag, number, optionalNumber, optionalText, text, textOrNull } from '../fields.ts';
import { failureSchema, logsSchema } from './plugin-records.ts';

// What builds, tests and deploys answer; see docs/reference/operations.md. Records keep the fields that are not named here.

/** The result of a build. A build that fails has one, too. */
export const buildResultSchema = z.looseObject({
  succeeded: flag,
  /** Everything that was logged, in lines. */
  outputLog: text,
  diagnostics: z.optional(
    z.array(
      z.looseObject({
        /** From 1. */
        line: number,
        /** From 1. */
        column: number,
        message: text,
        severity: text,
      }),
    ),
  ),
});

/** The result of a test: `result` is the plugin's output; `error` says why there is none. */
export const testResultSchema = z.looseObject({
  result: optionalText,
  error: z.optional(failureSchema),
  logs: logsSchema,
  /** How long the run alone took, in ms. */
  took: optionalNumber,
});

/** The result of a deploy. */
export const deploymentSchema = z.looseObject({
  version: text,
  /** `true`: the draft is what this version was made of, and no other was made. */
  unchanged: z.optional(flag),
  /** The version that is live now: a deploy never moves a pin. */
  live: z.optional(textOrNull),
});

export type BuildResult = z.output<typeof buildResultSchema>;
export type TestResult = z.output<typeof testResultSchema>;
export type Deployment = z.output<typeof deploymentSchema>;
