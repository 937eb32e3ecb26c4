/**
 * What tests and the scripted server say to each other: plain JSON, so that it passes through the test
 * runner's socket. The types are shared by the server (Node) and the client (browser).
 */

/** How one request is answered. The first rule that fits, in the order in which they were added, is used. */
export interface Rule {
  /** Path below `server.url('')`, as it is on the wire (percent-encoded, no query). A final `*` fits any rest. */
  path: string;
  /** Default: any method. A preflight is answered by the server itself unless the rule says `OPTIONS`. */
  method?: string;
  /** How many requests the rule answers before it is used up. Default: all. */
  times?: number;

  /** Default 200; 302 with `redirect`. */
  status?: number;
  /** Added to the answer's own headers and stronger than those. An array sends the header several times. */
  headers?: Record<string, string | string[]>;
  /** `location`: a path is taken below the same scope (`/login` → `/s/<id>/login`), an address as it is. */
  redirect?: string;

  /** At most one body. `json` is sent as application/json, `html` as text/html, `body` as text/plain. */
  json?: unknown;
  html?: string;
  body?: string;
  /** Sends `text` `times` times over, for answers too large to write down. */
  bodyRepeat?: { text: string; times: number };
  /** Raw bytes, for answers that are not text. */
  bodyBase64?: string;

  /** Milliseconds before the answer, or `hang`: until `server.release()`. */
  delay?: number | 'hang';
  /**
   * `start`: the connection is cut with no answer at all. `midway`: headers and half of the body are sent,
   * then it is cut (give the rule a body of at least two bytes). Reading that body fails with a TypeError in
   * Chromium and WebKit, and with an AbortError in Firefox.
   */
  drop?: 'start' | 'midway';
  /** `false` leaves out the CORS headers that let the test page's origin read the answer, with credentials. */
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
  /** The origin that was asked, from the Host header: tells same-origin from second-origin requests. */
  origin: string;
  /** Whether a rule answered it; otherwise it got 404. */
  matched: boolean;
  /** The server's own answer to a CORS preflight; `requests()` leaves these out, `preflights()` shows them. */
  preflight: boolean;
  /** The client went away before it had the whole answer. */
  aborted: boolean;
}

/** Which of the seen requests is meant, and how many must be there before the call returns. */
export interface Filter {
  path?: string;
  method?: string;
  count?: number;
}

/** A call from a test to the scripted server. `id` names the test's own scope. */
export type Command = { id: string } & (
  | { type: 'create' }
  | { type: 'add'; rules: Rule[] }
  | { type: 'reset'; rules: Rule[] }
  | ({ type: 'requests' } & Filter)
  | ({ type: 'preflights' } & Filter)
  | ({ type: 'aborted' } & Filter)
  | { type: 'release'; path?: string }
);

/** The answer to `create`: the port of the second origin. */
export interface Created {
  secondPort: number;
}

/** Requests below `/s/<id>/` are the scripted ones, on both origins. */
export const SCOPE_PREFIX = '/s/';

/** The name of the test runner's server command that carries a `Command`. */
export const COMMAND_NAME = 'scripted-server';

/** The parts of a scripted path, or nothing where the path is not a scripted one. */
export function parseScopedPath(pathname: string): { id: string; path: string } | undefined {
  const match = /^\/s\/([\w-]+)(\/.*)?$/.exec(pathname);
  return match?.[1] ? { id: match[1], path: match[2] ?? '/' } : undefined;
}

/** Whether a rule's path (see {@link Rule.path}) covers a request's. */
export function pathFits(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
