import * as z from 'zod/mini';
import { pathOf } from '../core/client/operation.ts';
import { DEFAULT_NAMESPACE } from '../core/url.ts';

/** Requests that the plugins of a namespace may make. */
export interface NamespaceConnection {
  name: string;
  description?: string;
  /** `https://host[:port]`; or `https://*.example.com`, of which each tenant names one origin together with its value. */
  origin: string;
  /** Default: `/`. */
  pathPrefix?: string;
  /** Default: only `GET`. */
  methods?: readonly string[];
  /** What the service adds to each request: a header with a stored value, or a signed token. */
  credential?: { type: 'header'; header: string; prefix?: string } | { type: 'identity' };
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
  /** What its plugins may reach. As in the service, what is left out stays, and `null` removes all. */
  connections?: readonly NamespaceConnection[] | null;
  /** What its plugins may import: versions of libraries by their names. What is left out stays, and `null` removes all. */
  libraries?: Readonly<Record<string, string>> | null;
}

/** Whose values for connections: those of a tenant, or those of your environment, for tenants that have none. */
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

/** What a connection needs. What is left out stays as it is. */
export interface ConnectionValue {
  /** The secret, without the prefix. It is stored encrypted, and no response has it. */
  value?: string;
  /** The origin that this tenant has for a connection with a wildcard. */
  origin?: string;
}

/** A page of what is set for connections, without the values; `next`, where there is more, is `after` of the next page. */
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
