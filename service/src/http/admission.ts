import type { IncomingMessage } from 'node:http';
import { BlockList } from 'node:net';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../entry-limit.ts';
import { wholeNode } from '../node-share.ts';
import type { NodeShare } from '../node-share.ts';
import { rateKey, Rates } from '../limits/rates.ts';
import type { RateExceeded } from '../limits/rates.ts';
import { rateWindow } from '../limits/rate-share.ts';
import type { Counters } from '../limits/rate-share.ts';
import type { ShareLimits } from '../processes/share-budget.ts';
import { Throttle } from '../limits/throttle.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { QueueOwner } from '../processes/fair-queue.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import { mebibyte } from '../units.ts';
import { authorize } from './auth.ts';
import type { EditorCaller, EnvironmentCaller } from './auth.ts';
import { bindingsOf } from './bindings.ts';
import { clientAddress, clientNetwork, forwardedAddress, isTrustedPeer } from './client-address.ts';
import type { TrustedProxies } from './client-address.ts';
import type { Connection } from './connection.ts';
import type { ServiceContext } from './context.ts';
import { ServiceError } from './errors.ts';
import { readBody, readQuery } from './operations/bodies.ts';
import type { AnyRequest, Operation } from './operations/operation.ts';
import { pathReader } from './operations/target.ts';
import type { ServiceResponse } from './response.ts';
import { requestInfo } from './request-info.ts';
import type { RouteHandler } from './routes.ts';
import { cancelled, isCancellation } from './run-errors.ts';
import { Held, refusalOf, requestSharesOf, Shares } from './shares.ts';
import type { RequestShares } from './shares.ts';

/*
 * How a request is admitted, from top to bottom: its connection, its address, its token, its tenant, its operation. Each of
 * them bounds what the service holds for a client: connections, requests in progress, bytes received, bytes not yet taken, and
 * the time that passes without progress. `Connection` parses and starts one request at a time, and `Pace` ends what is too slow.
 */

const second = 1000;

/** The limits of connections and requests. Times are in ms, sizes in bytes. */
export interface HttpLimits {
  /** From the start of a connection until all headers of its first request have arrived. */
  readonly headersTimeout: number;
  /** From the start of a request until all of it has arrived. */
  readonly requestTimeout: number;
  /** How often that is checked. */
  readonly connectionsCheckingInterval: number;
  /** How long clients are told that an idle connection is kept for their next request. */
  readonly keepAliveTimeout: number;
  /** How long it is kept. */
  readonly idleTimeout: number;
  /** In each such time a client has to send or take `paceBytes`, or all that is left. */
  readonly paceTime: number;
  readonly paceBytes: number;
  /** How many connections may be open. For a further one, one is closed that waits for its client. */
  readonly maxConnections: number;
  /** An unread body of up to this many bytes is received before the response, so that the connection can be kept. */
  readonly smallBody: number;
  /** How much of a longer unread body is received and discarded after the response, in bytes, before the connection is closed. */
  readonly unwantedBody: number;
}

export const httpLimits: HttpLimits = {
  // Headers have at most 16 KB: an honest client does not need longer.
  headersTimeout: 10 * second,
  // Long enough for 3 MiB, which is the largest body, at 850 kbit/s, and for a source of 1 MiB at 300.
  requestTimeout: 30 * second,
  connectionsCheckingInterval: second,
  // Node's default. Clients that go by the header, such as undici, leave a service that drains within this time.
  keepAliveTimeout: 5 * second,
  // Others, such as nginx and Node's `Agent`, send their next request after up to a minute. It must not cross the end of the connection.
  idleTimeout: 65 * second,
  paceTime: 10 * second,
  // 13 kbit/s, which the worst mobile connection has. The shares bound how much can wait at once, so that the pace only has to
  // end what would stay for hours.
  paceBytes: 16 * 1024,
  // More than there may be requests in progress, so that there is always a connection to close. A process has enough
  // descriptors and memory for it.
  maxConnections: 2000,
  // A body of this size has usually been sent as a whole by the time that the response is known.
  smallBody: 64 * 1024,
  // A client that sends a far too large file by mistake still gets the response; one that sends more is not going to read it.
  unwantedBody: 32 * mebibyte,
};

/** How much may be discarded at once, in bytes, of the bodies that clients of one network still send, and of all. */
export const discardShares: ShareLimits = {
  total: 256 * mebibyte,
  perEnvironment: 256 * mebibyte,
  perTenant: 32 * mebibyte,
  perToken: 32 * mebibyte,
};

/* ---- The connection ------------------------------------------------------------------------------------------------- */

/**
 * Shares connections between the networks of their clients. There is always room for another one: past the maximum, the network
 * with the most connections loses the one that has waited longest for its client. A connection of a trusted proxy counts for the
 * client that its request names, and for the proxy while it has none.
 */
export class ConnectionShares {
  readonly #max: number;
  readonly #proxies: TrustedProxies;
  /** The connections of each network, in the order in which they became idle. */
  readonly #networks = new Map<string, Set<Connection>>();
  #size = 0;

  constructor(max: number, proxies: TrustedProxies = new BlockList()) {
    this.#max = max;
    this.#proxies = proxies;
  }

  /** Adds a new connection, for which another one may have to end. */
  add(connection: Connection): void {
    const { remoteAddress } = connection.socket;
    connection.isProxied = isTrustedPeer(remoteAddress, this.#proxies);
    this.#size += 1;
    this.#put(connection, connection.isProxied ? proxyNetwork : clientNetwork(remoteAddress ?? ''));
    if (this.#size > this.#max) this.#makeRoom(connection);
  }

  delete(connection: Connection): void {
    this.#size -= 1;
    this.#remove(connection);
  }

  /** Counts the connection of a proxy for the client that its request names. */
  begin(connection: Connection, { headers }: IncomingMessage): void {
    if (!connection.isProxied) return;
    const forwardedFor = String(headers['x-forwarded-for'] ?? '');
    const client = forwardedAddress(connection.socket.remoteAddress, forwardedFor, this.#proxies);
    this.#put(connection, clientNetwork(client ?? ''));
  }

  /** Counts a connection whose request has ended as the newest that is idle. */
  end(connection: Connection): void {
    this.#put(connection, connection.isProxied ? proxyNetwork : connection.network);
  }

  #put(connection: Connection, network: string): void {
    this.#remove(connection);
    connection.network = network;
    const others = this.#networks.get(network);
    if (others) others.add(connection);
    else this.#networks.set(network, new Set([connection]));
  }

  #remove(connection: Connection): void {
    const network = this.#networks.get(connection.network);
    network?.delete(connection);
    if (network?.size === 0) this.#networks.delete(connection.network);
  }

  #makeRoom(newest: Connection): void {
    // A proxy's idle connections are the last to go, because they are not of one client.
    const sizeOf = (network: string, { size }: Set<Connection>) => (network === proxyNetwork ? 0 : size);
    const largestFirst = [...this.#networks].toSorted(
      ([a, one], [b, other]) => sizeOf(b, other) - sizeOf(a, one),
    );
    for (const [, connections] of largestFirst) {
      for (const connection of connections) {
        if (connection === newest || !connection.awaitsClient) continue;
        connection.socket.destroy();
        return;
      }
    }
    newest.socket.destroy();
  }
}

const proxyNetwork = 'proxy';

/* ---- The request ---------------------------------------------------------------------------------------------------- */

/** Makes the handler of an operation. It admits each request, and responds with what the operation's own handler makes. */
export function admit(operation: Operation, context: ServiceContext, respond: Responder): RouteHandler {
  const { auth, permission, scope, query, body, handle } = operation;
  const { admission } = context;
  const readPath = pathReader(operation.path);
  return async (c) => {
    const info = requestInfo(c);
    // A run has the id of its request. The header is sent even where the request is refused and nothing runs.
    if (auth === 'run') info.responseHeaders['x-suborbital-requestid'] = info.id;
    const { path, target } = readPath(c);
    // Address and token: `authorize` takes from the rates of either.
    const caller = await authorize(c, context, { auth, permission, scope }, target);

    // Tenant
    // Monitors are always answered.
    const held =
      auth === 'monitor'
        ? undefined
        : new Held(admission.shares, ownerOf(c, caller, target, admission), {
            isRun: auth === 'run',
            requester: caller?.kind === 'environment' ? 'vendor' : 'user',
          });
    info.held = held;
    const outgoing = bindingsOf(c).outgoing as ServiceResponse | undefined;
    if (outgoing) outgoing.held = held;
    try {
      // Operation
      const request = {
        c,
        path,
        target,
        caller,
        query: query && readQuery(c, query),
        body: body && (await readBody(c, body, target, context)),
      };
      // What a process does for a request waits in the queue of that process.
      if (!operation.isQueued) await held?.takeTurn(() => c.req.raw.signal);
      return await respond(c, await handle(request satisfies AnyRequest, context));
    } catch (error) {
      // Hono passes only errors to its error handler; the reason of an aborted request is a string.
      throw isCancellation(error) ? cancelled() : error;
    } finally {
      // The turn lasts until the response counts as unsent, and a stream is in progress to its end.
      if (outgoing) outgoing.releaseAtEnd();
      else held?.release();
    }
  };
}

type Responder = (c: Context, result: unknown) => Response | Promise<Response>;

/** Whom a request counts for. */
function ownerOf(c: Context, caller: unknown, target: Partial<PluginKey>, admission: Admission): QueueOwner {
  const known = caller as EditorCaller | EnvironmentCaller | undefined;
  if (!known) return admission.anonymous(c);
  if (known.kind === 'editor') return known.owner;
  return { environment: known.environment, tenant: target.tenant ?? '', token: known.tokenId };
}

/* ---- The address, the token and the tenant -------------------------------------------------------------------------- */

/** How many requests and runs are permitted in a minute, over all nodes; 0 or nothing for no limit. */
export interface RequestRates {
  /** Runs of one tenant's plugins. */
  readonly tenantRuns?: number;
  /** Runs of one environment's plugins. */
  readonly environmentRuns?: number;
  /** Requests with one token, but for runs. */
  readonly tokenRequests?: number;
  /** Requests of one address without a valid token. */
  readonly addressRequests?: number;
}

export interface AdmissionOptions {
  readonly rates?: RequestRates;
  readonly shares?: Partial<RequestShares>;
  /** The proxies whose `X-Forwarded-For` is believed (default: none). */
  readonly trustedProxies?: TrustedProxies;
  /** How long a request waits for a lease before the database counts as lost, in ms; see {@link Rates} for the default. */
  readonly leaseTimeout?: number;
  /** Which of the node's processes this is (default: the only one). */
  readonly nodeShare?: NodeShare | undefined;
  /** The clock: milliseconds since the epoch. */
  readonly now: () => number;
}

/** One of the rates. */
interface Policy {
  /** Its name in the headers of a response. */
  readonly name: string;
  /** How many are permitted in a minute; 0 for no limit. */
  readonly quota: number;
  /** What is counted, for messages, such as "runs a minute for this tenant". */
  readonly counted: string;
}

/** How many tokens that were valid are remembered, and for how long after their last use, in ms. */
const validTokens = { ...entryLimit(50_000), ttl: 2 * rateWindow };

/** How fast unknown tokens are looked up for an address that is past its rate, because a valid one may be among them. */
const lookUpThrottle = (processes: number) => ({
  interval: 100 * processes,
  // None longer than 2 s.
  waiting: Math.ceil(20 / processes),
});

/** Counts what callers do and hold, and refuses what is past a rate or a share. */
export class Admission {
  readonly shares: Shares;
  readonly #rates: Rates;
  readonly #now: () => number;
  readonly #trustedProxies: TrustedProxies;
  /** The tokens that were valid a short while ago, by their hash. */
  readonly #validTokens = new LRUCache<string, true>(validTokens);
  readonly #lookUps: Throttle;
  /** The look-ups of tokens that this node does not know, by the tokens' hashes. */
  readonly #tried = new Map<string, Promise<void>>();
  readonly #tenantRuns: Policy;
  readonly #environmentRuns: Policy;
  readonly #tokenRequests: Policy;
  readonly #addressRequests: Policy;

  constructor(counters: Counters, options: AdmissionOptions) {
    const { rates = {}, trustedProxies, leaseTimeout, nodeShare = wholeNode, now } = options;
    this.shares = new Shares({ ...requestSharesOf(nodeShare), ...options.shares });
    this.#rates = new Rates(counters, {
      now,
      nodeShare,
      ...(leaseTimeout !== undefined && { leaseTimeout }),
    });
    this.#lookUps = new Throttle(lookUpThrottle(nodeShare.count));
    this.#now = now;
    this.#trustedProxies = trustedProxies ?? new BlockList();
    const policy = (name: string, quota = 0, counted: string): Policy => ({ name, quota, counted });
    this.#tenantRuns = policy('tenant-runs', rates.tenantRuns, 'runs a minute for this tenant');
    this.#environmentRuns = policy(
      'environment-runs',
      rates.environmentRuns,
      'runs a minute for this environment',
    );
    this.#tokenRequests = policy('token-requests', rates.tokenRequests, 'requests a minute with one token');
    this.#addressRequests = policy(
      'address-requests',
      rates.addressRequests,
      'requests a minute of one address without a valid token',
    );
  }

  /** Whom a request without a token counts for: its network, as a tenant of an environment of all such requests. */
  anonymous(c: Context): QueueOwner {
    return {
      environment: '',
      tenant: clientNetwork(clientAddress(c, this.#trustedProxies) ?? ''),
      token: '',
    };
  }

  /**
   * Counts a run for its tenant and its environment. Throws 429 when either has used up its rate.
   * @param quota the tenant's own limit of runs a minute (default: that of the settings)
   */
  async takeRun({ environment, tenant }: PluginKey, quota = this.#tenantRuns.quota): Promise<void> {
    const tenantKey = rateKey('tenant', environment, tenant);
    if (quota) await this.#take({ ...this.#tenantRuns, quota }, tenantKey);
    if (!this.#environmentRuns.quota) return;
    try {
      await this.#take(this.#environmentRuns, rateKey('environment', environment));
    } catch (error) {
      // The run was refused for the environment, so it must not count for the tenant.
      if (quota) this.#rates.refund(tenantKey);
      throw error;
    }
  }

  /**
   * Looks up the token with this hash, and counts the request for the token's rate. A token that was valid a moment ago is
   * counted before the look-up, so that a request past the rate costs no look-up; any other one after it, so that only valid
   * tokens are remembered. Throws 429 when the rate is used up, and as {@link checkToken}.
   */
  async takeToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#tokenRequests;
    if (!policy.quota) return this.checkToken(c, hash, lookUp);
    const key = tokenKey(hash);
    const isKnown = this.#validTokens.has(key);
    if (isKnown) await this.#takeOrClose(c, policy, key);
    const found = await this.checkToken(c, hash, lookUp);
    if (!isKnown) await this.#takeOrClose(c, policy, key);
    return found;
  }

  /**
   * Looks up the token with this hash; `lookUp` throws 401 for an invalid one. A request with a token that this node does not
   * know is counted for the rate of the client's address before the look-up, and not counted any more if the token is valid. Past
   * that rate, tokens are looked up slowly: a flood of guesses does not become a flood of look-ups, and a valid token still gets
   * through. Throws 429 past the rate for an invalid token, and for one that would have to wait too long.
   */
  async checkToken<T>(c: Context, hash: Uint8Array, lookUp: () => Promise<T>): Promise<T> {
    const key = tokenKey(hash);
    // Of a back end's first requests with a token, which may be hundreds at once, only one counts for its address.
    const pending = this.#tried.get(key);
    if (pending) await pending;
    const isKnown = this.#validTokens.has(key);
    const tried = isKnown ? undefined : Promise.withResolvers<void>();
    if (tried) this.#tried.set(key, tried.promise);
    try {
      const found = await (isKnown ? lookUp() : this.#tryToken(c, key, lookUp));
      this.#validTokens.set(key, true);
      requestInfo(c).isAuthenticated = true;
      return found;
    } catch (error) {
      if (!isKnown || !isUnauthorized(error)) throw error;
      this.#validTokens.delete(key);
      await this.takeAddress(c);
      throw error;
    } finally {
      if (tried && this.#tried.get(key) === tried.promise) this.#tried.delete(key);
      tried?.resolve();
    }
  }

  /** Counts a request without a valid token for the client's address, once. Throws 429 when the rate is used up. */
  async takeAddress(c: Context): Promise<void> {
    const info = requestInfo(c);
    if (info.isCounted) return;
    info.isCounted = true;
    const key = this.#addressKey(c, 'address');
    if (key !== undefined) await this.#takeOrClose(c, this.#addressRequests, key);
  }

  /**
   * Counts a request for the editor's page for the client's address. Pages are counted apart from other requests, so that
   * one person's failing requests do not keep others at the same address from opening the editor.
   */
  async takePage(c: Context): Promise<void> {
    const key = this.#addressKey(c, 'page');
    if (key !== undefined) await this.#takeOrClose(c, this.#addressRequests, key);
  }

  close(): void {
    this.#rates.close();
  }

  async #take(policy: Policy, key: string): Promise<void> {
    const exceeded = await this.#rates.take(key, policy.quota);
    if (exceeded) throw this.#refusal(policy, exceeded);
  }

  /** As `#take`, for a rate past which the connection closes, so that a flood has to open a connection for each refusal. */
  async #takeOrClose(c: Context, policy: Policy, key: string): Promise<void> {
    const exceeded = await this.#rates.take(key, policy.quota);
    if (exceeded) throw this.#refuseAndClose(c, policy, exceeded);
  }

  #refuseAndClose(c: Context, policy: Policy, exceeded: RateExceeded): Error {
    const peer = bindingsOf(c).incoming?.socket.remoteAddress;
    // A trusted proxy sends the requests of other clients by the same connection; and while the database is away, no client is
    // known to have sent too many.
    if (!exceeded.isUnknown && !isTrustedPeer(peer, this.#trustedProxies)) {
      requestInfo(c).responseHeaders['connection'] = 'close';
      const { outgoing } = bindingsOf(c);
      if (outgoing) (outgoing as ServiceResponse).isPastRate = true;
    }
    return this.#refusal(policy, exceeded);
  }

  #refusal(policy: Policy, exceeded: RateExceeded): Error {
    return exceeded.isUnknown
      ? new StorageUnavailableError(new Error(`the rate ${policy.name} cannot be asked for`))
      : tooManyRequests(policy, exceeded, this.#now());
  }

  async #tryToken<T>(c: Context, token: string, lookUp: () => Promise<T>): Promise<T> {
    const policy = this.#addressRequests;
    const key = this.#addressKey(c, 'address');
    if (key === undefined) return lookUp();
    const exceeded = await this.#rates.take(key, policy.quota);
    if (exceeded && !(await this.#lookUps.take(key))) throw this.#refuseAndClose(c, policy, exceeded);
    let isGuess = false;
    const release = await this.#takeLookUpTurn(c, token);
    try {
      return await lookUp();
    } catch (error) {
      isGuess = isUnauthorized(error);
      throw isGuess && exceeded ? this.#refuseAndClose(c, policy, exceeded) : error;
    } finally {
      release();
      if (!isGuess && !exceeded) this.#rates.refund(key);
    }
  }

  /**
   * Waits for the turn of a look-up, in which networks take turns. Each token counts as a tenant of those without a token: one
   * network may have many valid ones, which must not be refused for what its other clients have in progress.
   */
  async #takeLookUpTurn(c: Context, token: string): Promise<() => void> {
    const owner = this.anonymous(c);
    let leave: (() => void) | undefined;
    try {
      leave = this.shares.requests.take({ ...owner, tenant: token }, 1);
      const endTurn = await this.shares.lookUpTurns.acquire(owner, () => c.req.raw.signal);
      return () => {
        endTurn();
        leave?.();
      };
    } catch (error) {
      leave?.();
      throw refusalOf(error, owner, 'user');
    }
  }

  /** The key that the client's address is counted by; `undefined` where addresses are not counted, or this one is unknown. */
  #addressKey(c: Context, kind: 'address' | 'page'): string | undefined {
    if (!this.#addressRequests.quota) return undefined;
    const address = clientAddress(c, this.#trustedProxies);
    return address === undefined ? undefined : `${kind} ${clientNetwork(address)}`;
  }
}

const isUnauthorized = (error: unknown) => error instanceof ServiceError && error.status === 401;

const tokenKey = (hash: Uint8Array) => `token ${Buffer.from(hash).toString('base64url')}`;

/** The error past a rate, with the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooManyRequests(
  { name, quota, counted }: Policy,
  { endsAt }: RateExceeded,
  now: number,
): ServiceError {
  const seconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
  return new ServiceError(
    429,
    'too-many-requests',
    `The limit of ${quota} ${counted} is reached; try again in ${seconds} s.`,
    {
      headers: {
        'retry-after': String(seconds),
        ratelimit: `"${name}";r=0;t=${seconds}`,
        'ratelimit-policy': `"${name}";q=${quota};w=${rateWindow / 1000}`,
      },
    },
  );
}

/** No such path, no such method at the path, and no such `Host`. */
const unmatchedStatuses: ReadonlySet<number> = new Set([404, 405, 421]);

/**
 * Counts requests without a valid token that match no host, path or method for the rate of the client's address: scanners send
 * many of them. Past the rate they are 429.
 */
export const countUnmatched =
  (admission: Admission): MiddlewareHandler =>
  async (c, next) => {
    await next();
    if (unmatchedStatuses.has(c.res.status) && !requestInfo(c).isAuthenticated)
      await admission.takeAddress(c);
  };
