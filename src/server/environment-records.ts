import * as z from 'zod/mini';
import { sampleSchema, usageSchema } from '../core/client/records.ts';
import { editorTokenSchema } from '../core/records.ts';

/*
 * What can be read only with an environment token; see docs/reference/operations.md. Times are ISO 8601. Records keep the
 * fields that are not named here.
 */

/** A tenant: a customer of yours. */
export const tenantSchema = z.looseObject({
  environment: z.string(),
  tenant: z.string(),
  /** Environment, a period, tenant. */
  ident: z.string(),
  description: z.string(),
  /** Whether the service refuses its tokens, gives it no new ones, and starts no runs. */
  suspended: z.boolean(),
  createdAt: z.string(),
  /** The number of its plugins. */
  plugins: z.number(),
  /** Limits of this tenant, which replace the settings of the service. */
  limits: z.optional(
    z.looseObject({
      plugins: z.optional(z.number()),
      runsPerMinute: z.optional(z.number()),
      storageMb: z.optional(z.number()),
      callsPerMinute: z.optional(z.number()),
      runTimeoutMs: z.optional(z.number()),
      runMemoryMb: z.optional(z.number()),
      records: z.optional(z.string()),
    }),
  ),
  /** The actor on whose behalf it was created or last changed. */
  actor: z.optional(z.string()),
  /** Missing in lists. */
  usage: z.optional(usageSchema),
});

/** A page of tenants; `next`, where there is more, is `after` of the next page. */
export const tenantPageSchema = z.looseObject({
  environment: z.string(),
  tenants: z.array(tenantSchema),
  next: z.optional(z.string()),
});

/** An editor token, and what it allows. */
export const createdSessionSchema = z.looseObject({
  ...editorTokenSchema.shape,
  /** How long it is valid, in seconds. */
  expires_in: z.number(),
  permissions: z.array(z.string()),
  actor: z.optional(z.string()),
});

/** What a tenant, or with `by: 'plugin'` a plugin, used on a day (UTC, `YYYY-MM-DD`). */
const usageDaySchema = z.looseObject({
  day: z.string(),
  tenant: z.string(),
  namespace: z.optional(z.string()),
  name: z.optional(z.string()),
  runs: z.number(),
  failures: z.number(),
  /** How long the runs took together, in ms. */
  milliseconds: z.number(),
  builds: z.number(),
});

/** A page of days; `next`, where there is more, is `after` of the next page. */
export const usagePageSchema = z.looseObject({ days: z.array(usageDaySchema), next: z.optional(z.string()) });

/** An entry of the audit log: who did what, and by which request. `ident` to `version` say to what. */
const auditEntrySchema = z.looseObject({
  id: z.string(),
  at: z.string(),
  /** Such as `plugin.live`. */
  action: z.string(),
  /** `kind`: `environment-token`, `editor-token`, `operator` or `service`; `holder`: that of the environment token. */
  by: z.looseObject({
    kind: z.string(),
    via: z.optional(z.string()),
    holder: z.optional(z.string()),
    actor: z.optional(z.string()),
  }),
  ident: z.optional(z.string()),
  namespace: z.optional(z.string()),
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  /** More about it; the fields depend on the action. */
  details: z.optional(z.record(z.string(), z.unknown())),
  /** The `x-request-id` of the response to the request. */
  requestId: z.string(),
});

/** A page of the audit log; `next`, where there is more, is `after` of the next page. */
export const auditPageSchema = z.looseObject({
  entries: z.array(auditEntrySchema),
  next: z.optional(z.string()),
});

/** The record of an environment token. Only the response of `createToken` has the token itself. */
const environmentTokenSchema = z.looseObject({
  id: z.string(),
  holder: z.string(),
  /** What it permits; missing in responses of 0.1.0, whose tokens permit everything. */
  scopes: z.optional(z.array(z.string())),
  createdAt: z.string(),
  /** When it ends, if a newer one replaces it. */
  endsAt: z.optional(z.string()),
});

/** A page of an environment's tokens; `next`, where there is more, is `after` of the next page. */
export const environmentTokensSchema = z.looseObject({
  tokens: z.array(environmentTokenSchema),
  next: z.optional(z.string()),
});

/** A new environment token. */
export const createdTokenSchema = z.looseObject({ id: z.string(), token: z.string() });

/** Requests that the plugins of a namespace may make. */
const connectionSchema = z.looseObject({
  name: z.string(),
  description: z.optional(z.string()),
  /** `https://host[:port]`; or `https://*.example.com`, for which each tenant sets its own origin. */
  origin: z.string(),
  pathPrefix: z.optional(z.string()),
  methods: z.optional(z.array(z.string())),
  /** What the service adds to each request: a `header` with a stored value, or an `identity`, a signed token. */
  credential: z.optional(
    z.looseObject({ type: z.string(), header: z.optional(z.string()), prefix: z.optional(z.string()) }),
  ),
});

/** The types of the input and output of a namespace's plugins. `input` and `output` are JSON Schemas (2020-12). */
export const namespaceSchema = z.looseObject({
  namespace: z.optional(z.string()),
  description: z.optional(z.string()),
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
  samples: z.optional(z.array(sampleSchema)),
  /** The sources of new plugins, by language. */
  templates: z.optional(z.record(z.string(), z.string())),
  /** What its plugins may reach. */
  connections: z.optional(z.array(connectionSchema)),
  /** What its plugins may import: versions of libraries, by their names. */
  libraries: z.optional(z.record(z.string(), z.string())),
  /** What is legal and probably wrong in the schemas. Only in the response of `setNamespace`. */
  warnings: z.optional(z.array(z.looseObject({ path: z.string(), message: z.string() }))),
});

/** A page of namespaces with types; `next`, where there is more, is `after` of the next page. */
export const namespacePageSchema = z.looseObject({
  namespaces: z.array(namespaceSchema),
  next: z.optional(z.string()),
});

export type Tenant = z.output<typeof tenantSchema>;
export type TenantPage = z.output<typeof tenantPageSchema>;
export type AuditEntry = z.output<typeof auditEntrySchema>;
export type AuditPage = z.output<typeof auditPageSchema>;
export type CreatedSession = z.output<typeof createdSessionSchema>;
export type UsageDay = z.output<typeof usageDaySchema>;
export type UsagePage = z.output<typeof usagePageSchema>;
export type EnvironmentTokenRecord = z.output<typeof environmentTokenSchema>;
export type EnvironmentTokens = z.output<typeof environmentTokensSchema>;
export type CreatedToken = z.output<typeof createdTokenSchema>;
export type Namespace = z.output<typeof namespaceSchema>;
export type NamespacePage = z.output<typeof namespacePageSchema>;
