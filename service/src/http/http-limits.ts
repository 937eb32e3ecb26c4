import { mebibyte } from '../units.ts';

const second = 1000;

/** The limits of connections and requests. Times are in ms, sizes in bytes. */
export interface HttpLimits {
  /** From the start of a request, or of a connection, until all headers of the request have arrived. */
  readonly headersTimeout: number;
  /** From the start of a request until its whole body has arrived. */
  readonly requestTimeout: number;
  /** How often these two are checked. */
  readonly connectionsCheckingInterval: number;
  /** How long an idle connection is kept for the next request. */
  readonly keepAliveTimeout: number;
  /** How long a client may read nothing of a response that is waiting to be sent. */
  readonly writeTimeout: number;
  /** From when a response is complete until all of it is sent, however steadily the client reads. */
  readonly responseTimeout: number;
  /**
   * How many connections may be open at each address that the service listens on: at one, or by default at the two of loopback.
   * Further ones are closed at once.
   */
  readonly maxConnections: number;
  /** An unread body of up to so many bytes is received before the response, so that the connection can be kept. */
  readonly smallBody: number;
  /** How much of a longer unread body is received and discarded after the response, in bytes, before the connection is closed. */
  readonly unwantedBody: number;
}

export const httpLimits: HttpLimits = {
  // Headers have at most 16 KB: an honest client does not need longer.
  headersTimeout: 10 * second,
  // Long enough for 1 MiB, which is the largest body, at 300 kbit/s.
  requestTimeout: 30 * second,
  connectionsCheckingInterval: second,
  // Node's default. A header tells it to clients that keep connections, such as undici.
  keepAliveTimeout: 5 * second,
  writeTimeout: 30 * second,
  // Long enough for the largest responses, a few MiB, at 300 kbit/s.
  responseTimeout: 180 * second,
  // Well above the number of requests at which 429 and 503 begin, so that this only stops connections that never become
  // requests. A process has enough descriptors and memory for it.
  maxConnections: 2000,
  // A body of this size has usually been sent as a whole by the time that the response is known.
  smallBody: 64 * 1024,
  // A client that sends a far too large file by mistake still gets the response; one that sends more is not going to read it.
  unwantedBody: 64 * mebibyte,
};
