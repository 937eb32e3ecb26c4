import type { NodeShare } from '../node-share.ts';
import { rateKey, Rates } from '../limits/rates.ts';
import { methodsOfConnections, isWildcard } from '../plugins/connections.ts';
import type { Connection } from '../plugins/connections.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { GuestRequest, HoldBytes } from '../sandbox/run-calls.ts';
import { StorageUnavailableError } from '../storage/errors.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredValue } from '../storage/tables/connection-values.ts';
import { createRateCounters } from '../storage/tables/rate-counters.ts';
import { CallError } from './call-error.ts';
import type { CallErrorCode } from './call-error.ts';
import { describeGrants, findGrant, parseTarget } from './grants.ts';
import type { Guard, GuardedResponse } from './guard.ts';
import { comparedName } from './headers.ts';
import type { Identity } from './identity.ts';
import type { CallContext, CallRecord, CallResult, Outbound } from './outbound.ts';
import { SecretsUnavailableError } from './secrets.ts';
import type { Secrets } from './secrets.ts';

export interface CallLimits {
  /** How long a call may take, in ms (default 10,000). */
  readonly timeout?: number;
  /** How long a response may be once it is decompressed, in bytes (default 1 MiB). */
  readonly responseBytes?: number;
  /** How many calls a tenant may make each minute; 0 for any number (default). */
  readonly perMinute?: number;
}

export interface OutboundCallsOptions extends CallLimits {
  readonly storage: Storage;
  readonly guard: Guard;
  readonly secrets: Secrets;
  readonly identity: Identity;
  /** The service's own origin, for the tokens of identities. */
  readonly issuer: () => string;
  readonly now: () => number;
  /** How long a call waits for a lease of its rate before the database counts as lost, in ms. */
  readonly leaseTimeout?: number | undefined;
  /** Which of the node's processes this is (default: the only one). */
  readonly nodeShare?: NodeShare | undefined;
  /** Called at the end of each call, with `ok` or the code of its error. */
  readonly onCall?: ((outcome: 'ok' | 'cancelled' | CallErrorCode) => void) | undefined;
  /** Called with a value that cannot be decrypted, for the operator. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A header that the service adds, and the text that must not come back. */
interface AddedHeader {
  readonly name: string;
  readonly value: string;
  readonly secret: string;
}

/** A call that has not ended. */
interface PendingCall {
  readonly plugin: PluginKey;
  /** Ends the call, unless it is still granted. */
  readonly checkAgain: () => Promise<void>;
}

/** What is recorded of an address, and quoted in messages: the beginning of it, without its query and its user. */
export const recordedUrl = (text: string): string => {
  if (URL.canParse(text)) {
    const url = new URL(text);
    return url.host ? `${url.protocol}//${url.host}${url.pathname}`.slice(0, maxRecordedUrl) : url.protocol;
  }
  const [start = ''] = text.split(/[?#]/);
  return start.replace(/\/\/[^/]*@/, '//').slice(0, maxRecordedText);
};

/** How many characters are recorded of a URL, and of what should be a URL or a method. */
const [maxRecordedUrl, maxRecordedText] = [1000, 200];

/**
 * Makes the requests of plugins that their namespaces grant. What is granted, and the values for it, are read for each call, and
 * again while it waits when they change.
 */
export class OutboundCalls implements Outbound {
  readonly #options: OutboundCallsOptions;
  readonly #rates: Rates;
  readonly #pending = new Set<PendingCall>();
  readonly #stopListening: () => void;

  constructor(options: OutboundCallsOptions) {
    this.#options = options;
    const { storage, now, leaseTimeout, nodeShare } = options;
    this.#rates = new Rates(createRateCounters(storage.db), {
      now,
      ...(leaseTimeout !== undefined && { leaseTimeout }),
      ...(nodeShare && { nodeShare }),
    });
    this.#stopListening = storage.runs.onConnectionsChange((isAffected) => {
      for (const { plugin, checkAgain } of this.#pending) if (isAffected(plugin)) void checkAgain();
    });
  }

  async call(
    request: GuestRequest,
    context: CallContext,
    signal: AbortSignal,
    hold?: HoldBytes,
  ): Promise<CallResult & { readonly record: CallRecord }> {
    const began = performance.now();
    const granted: { connection?: Connection; url?: URL } = {};
    const toRecord = (ended: Pick<CallRecord, 'status' | 'error'>, responseBytes = 0): CallRecord => ({
      connection: granted.connection?.name ?? '',
      method: request.method.slice(0, maxRecordedText),
      url: recordedUrl(request.url),
      ...ended,
      took: performance.now() - began,
      requestBytes: request.body?.length ?? 0,
      responseBytes,
    });
    try {
      const response = await this.#make(request, context, { signal, hold }, granted);
      this.#options.onCall?.('ok');
      const record = toRecord({ status: response.status }, response.body.length);
      return { response: { ...response, url: granted.url?.href ?? request.url }, record };
    } catch (error) {
      if (signal.aborted) {
        this.#options.onCall?.('cancelled');
        const message = 'The run ended before the call.';
        return { error: { code: 'cancelled', message }, record: toRecord({ error: 'cancelled' }) };
      }
      const { code, message } = this.#toCallError(error);
      this.#options.onCall?.(code);
      return { error: { code, message }, record: toRecord({ error: code }) };
    }
  }

  close(): void {
    this.#stopListening();
    this.#rates.close();
  }

  async #make(
    request: GuestRequest,
    context: CallContext,
    { signal, hold }: { readonly signal: AbortSignal; readonly hold: HoldBytes | undefined },
    granted: { connection?: Connection; url?: URL },
  ): Promise<GuardedResponse> {
    signal.throwIfAborted();
    const { plugin } = context;
    const { method } = request;
    const target = parseTarget(request.url);
    if ('problem' in target) throw notGranted(request, `: the address ${target.problem}`);
    const { url } = target;
    granted.url = url;
    const revoked = new AbortController();
    let hasChanged = false;
    // Watched before what is granted is read, so that no change between the two is missed.
    const pending: PendingCall = {
      plugin,
      checkAgain: async () => {
        hasChanged = true;
        if (!granted.connection) return;
        try {
          const found = await this.#grant(plugin, method, url);
          if (found?.name !== granted.connection.name)
            revoked.abort(notGranted(request, ' any more: the grant was withdrawn'));
        } catch (error) {
          revoked.abort(this.#toCallError(error));
        }
      },
    };
    this.#pending.add(pending);
    try {
      const connection = await this.#grant(plugin, method, url);
      if (!connection) throw notGranted(request, await this.#describe(plugin));
      granted.connection = connection;
      if (hasChanged) await pending.checkAgain();
      await this.#takeCall(plugin);
      const added = await this.#credential(connection, request, url, context);
      const { traceparent } = context;
      const headers =
        traceparent === undefined ? request.headers : withHeader(request.headers, 'traceparent', traceparent);
      const response = await this.#options.guard.request(url, {
        method,
        headers: added ? withHeader(headers, added.name, added.value) : headers,
        ...(request.body && { body: request.body }),
        owner: { environment: plugin.environment, tenant: plugin.tenant, token: '' },
        signal: AbortSignal.any([signal, revoked.signal]),
        timeout: this.#options.timeout ?? 10_000,
        maxBytes: this.#options.responseBytes ?? 1024 * 1024,
        hold,
      });
      revoked.signal.throwIfAborted();
      if (added && holdsSecret(response, added.secret))
        throw new CallError(
          'response-refused',
          `The response of ${url.host} was refused: it holds the credential that was sent.`,
        );
      return response;
    } finally {
      this.#pending.delete(pending);
    }
  }

  async #grant(plugin: PluginKey, method: string, url: URL): Promise<Connection | undefined> {
    if (!methodsOfConnections.some((known) => known === method)) return undefined;
    const connections = await this.#options.storage.runs.connections(plugin);
    return findGrant(connections, method, url, (connection) => this.#originOf(plugin, connection));
  }

  /** The origin that the tenant has for a connection with a wildcard. */
  async #originOf(plugin: PluginKey, { name }: Connection): Promise<string | undefined> {
    const values = await this.#options.storage.runs.connectionValues(plugin, name);
    return values?.tenant?.origin;
  }

  async #describe(plugin: PluginKey): Promise<string> {
    const connections = await this.#options.storage.runs.connections(plugin);
    if (!connections.length) return '. This namespace grants no requests';
    const described = await describeGrants(connections, (one) => this.#originOf(plugin, one));
    return `. What is granted: ${described}`;
  }

  async #takeCall(plugin: PluginKey): Promise<void> {
    const tenant = await this.#options.storage.runs.tenant(plugin);
    const quota = tenant?.limits.callsPerMinute ?? this.#options.perMinute ?? 0;
    if (quota === 0) return;
    const exceeded = await this.#rates.take(rateKey('calls', plugin.environment, plugin.tenant), quota);
    if (exceeded?.isUnknown) throw new CallError('unreachable', unreadable);
    if (exceeded) throw new CallError('too-many-calls', `This tenant may make ${quota} requests a minute.`);
  }

  async #credential(
    connection: Connection,
    request: GuestRequest,
    { origin }: URL,
    context: CallContext,
  ): Promise<AddedHeader | undefined> {
    const { credential, name } = connection;
    if (!credential) return undefined;
    if (credential.type === 'identity') {
      const token = await this.#options.identity.sign(context, {
        issuer: this.#options.issuer(),
        audience: origin,
      });
      return { name: 'authorization', value: `Bearer ${token}`, secret: token };
    }
    const { plugin } = context;
    const values = await this.#options.storage.runs.connectionValues(plugin, name);
    // Origin and value may have been replaced since the grant was found: the new value is none for the old origin.
    if (isWildcard(connection) && values?.tenant?.origin !== origin)
      throw notGranted(request, ' any more: the grant was withdrawn');
    // A tenant names where a wildcard leads, so that a value for all tenants could be sent anywhere.
    const shared = isWildcard(connection) ? undefined : values?.environment;
    const stored = values?.tenant?.sealed === undefined ? shared : values.tenant;
    if (stored?.sealed === undefined)
      throw new CallError(
        'credential-missing',
        `The connection ${name} has no value for its credential yet.`,
      );
    const value = this.#options.secrets.open(stored.sealed, valueContext(plugin, stored, name));
    return { name: credential.header, value: (credential.prefix ?? '') + value, secret: value };
  }

  #toCallError(error: unknown): CallError {
    if (error instanceof CallError) return error;
    if (error instanceof StorageUnavailableError) return new CallError('unreachable', unreadable);
    this.#options.onError?.(error);
    if (error instanceof SecretsUnavailableError)
      return new CallError(
        'credential-missing',
        'The service cannot read the credential of this connection.',
      );
    return new CallError('unreachable', 'The request could not be made.');
  }
}

const unreadable = 'What is granted cannot be read at the moment; try again.';

type Headers = GuestRequest['headers'];

/** Headers with one more, which replaces what has its name. */
const withHeader = (headers: Headers, name: string, value: string): Headers => [
  ...headers.filter(([other]) => comparedName(other) !== comparedName(name)),
  [name, value],
];

/** What a value is encrypted for. */
export const valueContext = (
  { environment, namespace }: Pick<PluginKey, 'environment' | 'namespace'>,
  { tenantId }: Pick<StoredValue, 'tenantId'>,
  connection: string,
) => ['connection_values', environment, tenantId, namespace, connection] as const;

const notGranted = ({ method, url }: GuestRequest, why: string) =>
  new CallError('not-granted', `${method} ${recordedUrl(url)} is not granted${why}.`.slice(0, 4000));

/** Whether a response holds a text as it is, in its body or its headers. */
function holdsSecret({ body, headers, statusText }: GuardedResponse, secret: string): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // Headers are read as Latin-1, and some servers write them as UTF-8.
  const written = Buffer.from(secret).toString('latin1');
  return (
    bytes.includes(secret) ||
    bytes.includes(secret, 0, 'latin1') ||
    [statusText, ...headers.flat()].some((text) => text.includes(secret) || text.includes(written))
  );
}
