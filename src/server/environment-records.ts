import * as z from 'zod/mini';
import { flag, number, optionalNumber, optionalText, text } from '../core/fields.ts';
import { editorTokenSchema } from '../core/records.ts';

/*
 * What can be read with an environment token alone; see docs/reference/operations.md. Times are ISO 8601. Records keep the
 * fields that are not named here.
 */

/** A customer. */
export const tenantSchema = z.looseObject({
  environment: text,
  tenant: text,
  /** Environment, a period, tenant. */
  ident: text,
  description: text,
  /** Whether its tokens are refused, it gets no new ones, and none of its plugins runs. */
  suspended: flag,
  createdAt: text,
  /** The number of its plugins. */
  plugins: number,
  /** Limits of its own, in place of those in the service's settings. */
  limits: z.optional(z.looseObject({ plugins: optionalNumber, runsPerMinute: optionalNumber })),
});

/** A page of customers; `next`, where there is more, is `after` of the next page. */
export const tenantPageSchema = z.looseObject({
  environment: text,
  tenants: z.array(tenantSchema),
  next: optionalText,
});

/** An editor token, and what it allows. */
export const createdSessionSchema = z.looseObject({
  ...editorTokenSchema.shape,
  /** In seconds. */
  expires_in: number,
  permissions: z.array(text),
  actor: optionalText,
});

/** What a tenant used on a day (UTC, `YYYY-MM-DD`). */
export const usageDaySchema = z.looseObject({
  day: text,
  tenant: text,
  runs: number,
  failures: number,
  /** How long the runs took together, in ms. */
  milliseconds: number,
  builds: number,
});

/** A page of days; `next`, where there is more, is `after` of the next page. */
export const usagePageSchema = z.looseObject({ days: z.array(usageDaySchema), next: optionalText });

/** The record of an environment token. Only the response of `createToken` has the token itself. */
export const environmentTokenSchema = z.looseObject({
  id: text,
  holder: text,
  createdAt: text,
  endsAt: optionalText,
});

/** A page of an environment's tokens; `next`, where there is more, is `after` of the next page. */
export const environmentTokensSchema = z.looseObject({
  tokens: z.array(environmentTokenSchema),
  next: optionalText,
});

/** A new environment token. */
export const createdTokenSchema = z.looseObject({ id: text, token: text });

const sample = z.looseObject({
  name: text,
  description: optionalText,
  input: z.unknown(),
  output: z.optional(z.unknown()),
});

/** The types of the input and output of a namespace's plugins. `input` and `output` are JSON Schemas (2020-12). */
export const namespaceSchema = z.looseObject({
  namespace: optionalText,
  description: optionalText,
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
  samples: z.optional(z.array(sample)),
  /** Source for new plugins, by language. */
  templates: z.optional(z.record(text, text)),
});

/** A page of namespaces with types; `next`, where there is more, is `after` of the next page. */
export const namespacePageSchema = z.looseObject({
  namespaces: z.array(namespaceSchema),
  next: optionalText,
});

export type Tenant = z.output<typeof tenantSchema>;
export type TenantPage = z.output<typeof tenantPageSchema>;
export type CreatedSession = z.output<typeof createdSessionSchema>;
export type UsageDay = z.output<typeof usageDaySchema>;
export type UsagePage = z.output<typeof usagePageSchema>;
export type EnvironmentTokenRecord = z.output<typeof environmentTokenSchema>;
export type EnvironmentTokens = z.output<typeof environmentTokensSchema>;
export type CreatedToken = z.output<typeof createdTokenSchema>;
export type Namespace = z.output<typeof namespaceSchema>;
export type NamespacePage = z.output<typeof namespacePageSchema>;
