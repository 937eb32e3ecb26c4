import type { PageOptions } from '../core/client/list-options.ts';

/** What you can set for a tenant. */
export interface TenantDetails {
  description?: string;
  /** `true`: no tokens are given or taken, and nothing new runs. */
  suspended?: boolean;
  /** Limits of its own, in place of those in the service's settings; `null` to return to these. */
  limits?: { plugins?: number | null; runsPerMinute?: number | null };
}

/** Which days are listed, as `YYYY-MM-DD` (UTC), both included; by default the last 30. */
export interface UsageOptions extends PageOptions {
  from?: string | undefined;
  to?: string | undefined;
  /** Those of this tenant alone: the part of the ident after its last period. */
  tenant?: string | undefined;
}

/** For a new environment token. */
export interface TokenDetails {
  /** Who it is for; by default the holder of the token that this is requested with. */
  holder?: string;
  /** How long the holder's other tokens stay valid, in seconds: 3600 by default, at most 86400. */
  overlap?: number;
}

/**
 * The types of the input and output of a namespace's plugins. `input` and `output` are JSON Schemas (2020-12); a missing one is
 * any JSON.
 */
export interface NamespaceDetails {
  description?: string;
  input?: unknown;
  output?: unknown;
  samples?: readonly { name: string; description?: string; input: unknown; output?: unknown }[];
  /** Source for new plugins, by language. */
  templates?: Readonly<Record<string, string>>;
}
