const second = 1000;

/** What the service gives its clients at the most. Times are in ms. */
export interface HttpLimits {
  /** From the start of a request, or of a connection, until all of the request's headers are there. */
  readonly headersTimeout: number;
  /** From the start of a request until all of its body is there. */
  readonly requestTimeout: number;
  /** How often these two are looked at. */
  readonly connectionsCheckingInterval: number;
  /** How long a connection that has nothing to do is kept for the next request. */
  readonly keepAliveTimeout: number;
  /** How long a client may take nothing of an answer that waits to be sent. */
  readonly writeTimeout: number;
  /** From when an answer is complete until all of it is sent, however steadily the client takes it. */
  readonly answerTimeout: number;
  /**
   * Connections at a time, at each address that is listened on: one, or by default the two of loopback. More are closed at once.
   */
  readonly maxConnections: number;
  /** Up to this length, in bytes, a body that nobody wants is awaited before the answer, so that its connection is kept. */
  readonly smallBody: number;
  /** How much of a longer one is received and dropped after the answer, in bytes, before its connection is closed. */
  readonly unwantedBody: number;
}

export const httpLimits: HttpLimits = {
  // Headers are at most 16 KB: a client that needs longer does not mean to send them.
  headersTimeout: 10 * second,
  // Long enough for 1 MiB, which is the largest body, at 300 kbit/s.
  requestTimeout: 30 * second,
  connectionsCheckingInterval: second,
  // What Node has by default; clients that keep connections, such as undici, are told of it by a header.
  keepAliveTimeout: 5 * second,
  writeTimeout: 30 * second,
  // Long enough for the largest answers, a few MiB, at 300 kbit/s.
  answerTimeout: 180 * second,
  // Well above what is answered with 429 and 503 when too much waits: those who flood the service are told so, and this
  // is for what never becomes a request. Files and memory of a process suffice for it.
  maxConnections: 2000,
  // What is no longer than this is on its way as a whole by the time that the answer is known.
  smallBody: 64 * 1024,
  // A client that sends a far too large file by mistake is still told so; what sends more does not listen.
  unwantedBody: 64 * 1024 * 1024,
};
