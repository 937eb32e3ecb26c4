/** How one request is answered. The first rule that matches, in the order in which they were added, is used. */
export interface Rule {
  /** Path below `server.url('')`, as it is on the wire (percent-encoded, no query). A final `*` matches any rest. */
  path: string;
  /** Default: any method. The server answers a preflight by itself unless the rule says `OPTIONS`. */
  method?: string;
  /** How many requests the rule answers before it is used up. Default: all. */
  times?: number;

  /** Default 200; 302 with `redirect`. */
  status?: number;
  /** Take precedence over the response's own headers. An array sends the header several times. */
  headers?: Record<string, string | string[]>;
  /** `location`: a path is taken below the same scope (`/login` → `/s/<id>/login`), a URL as it is. */
  redirect?: string;

  /** At most one body. `json` is sent as application/json, `html` as text/html, `body` as text/plain. */
  json?: unknown;
  html?: string;
  body?: string;
  /** Sends `text` `times` times over, for responses too large to write down. */
  bodyRepeat?: { text: string; times: number };

  /** Holds the response back until `server.release()`. */
  delay?: 'hang';
  /**
   * `start`: the connection is cut without a response. `midway`: headers and half of the body are sent, then it is cut
   * (give the rule a body of at least two bytes). Reading that body fails with a TypeError in Chromium and WebKit, and
   * with an AbortError in Firefox.
   */
  drop?: 'start' | 'midway';
  /** `false` leaves out the CORS headers that let the test page's origin read the response, with credentials. */
  cors?: boolean;
}

/** One request that the scripted server has read to its end. */
export interface SeenRequest {
  method: string;
  /** Below the scope, as on the wire, without the query: `/api/v1/draft/a.b/default/c%2Fd`. */
  path: string;
  /** The last value of each parameter, decoded. `search` has the raw text. */
  query: Record<string, string>;
  search: string;
  /** Names in lower case; several values are joined by a comma. */
  headers: Record<string, string>;
  body: string;
  /** The requested origin, from the Host header: tells same-origin from second-origin requests. */
  origin: string;
  /** Whether the client disconnected before it had the whole response. */
  aborted: boolean;
}

/** Which of the seen requests are meant, and how many must be there before the call returns. */
export interface Filter {
  path?: string;
  method?: string;
  count?: number;
}

/** Whether a rule's path (see {@link Rule.path}) matches a request's. */
export function pathMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

/** Throws for a mistake that TypeScript does not find, which would else end as a surprising response. */
export function checkRule({ path, json, html, body, bodyRepeat }: Rule): void {
  if (!path.startsWith('/') && path !== '*')
    throw new Error(`A rule's path starts with "/" (or is "*"), not "${path}"`);
  if (path.includes('?')) throw new Error(`A rule's path has no query: "${path}"`);
  if ([json, html, body, bodyRepeat].filter((one) => one !== undefined).length > 1)
    throw new Error(`The rule for "${path}" has more than one body`);
}
