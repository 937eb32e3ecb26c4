import * as z from 'zod/mini';
import { pathOf } from '../core/client/operation.ts';
import { DEFAULT_NAMESPACE } from '../core/url.ts';

/** Requests that the plugins of a namespace may make. */
export interface NamespaceConnection {
  name: string;
  description?: string;
  /** `https://host[:port]`; or `https://*.example.com`, for which each tenant sets its own origin. */
  origin: string;
  /** The beginning of the paths, which matches whole segments. Default: `/`. */
  pathPrefix?: string;
  /** Default: only `GET`. */
  methods?: readonly string[];
  /** What the service adds to each request: a header with the stored value, or a signed token that says which plugin asks. */
  credential?: { type: 'header'; header: string; prefix?: string } | { type: 'identity' };
}

/**
 * The types of the input and output of a namespace's plugins, and what they may reach and import. `input` and `output` are JSON
 * Schemas (2020-12), at most 64 KiB together; a missing one is any JSON, or text if both are missing.
 */
export interface NamespaceDetails {
  description?: string;
  input?: unknown;
  output?: unknown;
  samples?: readonly { name: string; description?: string; input: unknown; output?: unknown }[];
  /** The sources of new plugins, by language. */
  templates?: Readonly<Record<string, string>>;
  /** What its plugins may reach, at most 20. If it is missing, what is there stays; `null` removes it. */
  connections?: readonly NamespaceConnection[] | null;
  /** What its plugins may import: versions of libraries, by their names. If it is missing, what is there stays; `null` removes it. */
  libraries?: Readonly<Record<string, string>> | null;
}

/** Whose values are meant: those of a tenant, or those of your environment, for tenants without a value. */
export type ConnectionOwner =
  | {
      /** The ident of a tenant, which `joinIdent` makes. */
      identifier: string;
    }
  | { environment: string };

/** A connection of a namespace. */
export type ConnectionLocation = ConnectionOwner & {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Its name in the record of the namespace. */
  connection: string;
};

/** What a tenant, or your environment, has for a connection. A missing field stays as it is. */
export interface ConnectionValue {
  /** The secret, without the prefix, at most 8 KiB. It is stored encrypted, and no response has it. */
  value?: string;
  /** The origin of this tenant, for a connection with a wildcard. */
  origin?: string;
}

/** A page of the connections that have a value or an origin, without the values. `next`, where there is more, is `after` of the next page. */
export const connectionValuePageSchema = z.looseObject({
  connections: z.array(
    z.looseObject({
      namespace: z.string(),
      connection: z.string(),
      origin: z.optional(z.string()),
      /** ISO 8601. */
      updatedAt: z.string(),
    }),
  ),
  next: z.optional(z.string()),
});

export type ConnectionValuePage = z.output<typeof connectionValuePageSchema>;

/** @internal */
export const connectionsPath = (owner: ConnectionOwner): string =>
  'identifier' in owner
    ? pathOf('v1/tenant', { identifier: owner.identifier }, 'connections')
    : pathOf('v1/environment', { environment: owner.environment }, 'connections');

/** @internal */
export const connectionPath = ({
  namespace = DEFAULT_NAMESPACE,
  connection,
  ...owner
}: ConnectionLocation): string =>
  'identifier' in owner
    ? pathOf('v1/tenant', { identifier: owner.identifier }, 'connections', { namespace, connection })
    : pathOf('v1/environment', { environment: owner.environment }, 'connections', { namespace, connection });
