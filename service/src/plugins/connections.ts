/** What the service adds to the requests of a connection on their way out. */
export type Credential =
  | {
      /** A header with a value that is stored, encrypted, for a tenant or for the environment. */
      readonly type: 'header';
      readonly header: string;
      /** What comes before the value, such as `Bearer `. */
      readonly prefix?: string | undefined;
    }
  /** A signed token that says which plugin asks, in the header `authorization`. */
  | { readonly type: 'identity' };

export const methodsOfConnections = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Requests that a vendor grants to the plugins of a namespace. */
export interface Connection {
  readonly name: string;
  readonly description?: string | undefined;
  /** `https://host[:port]`; with `*` as the first label, of which each tenant names one. */
  readonly origin: string;
  /** Matches whole segments (default `/`). */
  readonly pathPrefix?: string | undefined;
  /** Default: only `GET`. */
  readonly methods?: readonly (typeof methodsOfConnections)[number][] | undefined;
  readonly credential?: Credential | undefined;
}

/** Whether each tenant names its own origin for a connection. */
export const isWildcard = ({ origin }: Pick<Connection, 'origin'>): boolean => origin.includes('*');
