import { checkRule, type Filter, type Rule, type SeenRequest } from './scripted-server-rules.ts';
import type { ScopeCommands } from './scripted-server-scope.ts';

/** One origin at which a test's scripted responses are served. */
export interface ScriptedOrigin {
  origin: string;
  /** The URL of a scripted path: `url('/token')`. `url()` has no final slash: a base URL. */
  url: (path?: string) => string;
}

/**
 * A test's own scripted server. Nothing is shared between two of them: each has its own rules and its own
 * list of requests, below its own path. `origin` and `url` are the second origin's.
 */
export interface ScriptedServer extends ScriptedOrigin {
  /** The same responses on the test page's own origin, as most token endpoints are. */
  sameOrigin: ScriptedOrigin;
  /** The second origin under another host name, and so another site to the browser (cookies, storage). */
  crossSite: ScriptedOrigin;

  /** Adds rules after those that are there. The first that matches and is not used up answers. */
  on: (...rules: Rule[]) => Promise<void>;
  /** Drops all rules and starts over with these. Responses that are held back stay held. */
  reset: (...rules: Rule[]) => Promise<void>;
  /**
   * The requests seen so far, without preflights. With `count` (or a number) the call waits until there are
   * that many; `path` and `method` narrow it down.
   */
  requests: (filter?: number | Filter) => Promise<SeenRequest[]>;
  /** The same for requests that the client gave up before it had the whole response; waits for one by default. */
  aborted: (filter?: number | Filter) => Promise<SeenRequest[]>;
  /**
   * Waits until at least one response with `delay: 'hang'` is held back, then lets go all that are (or those of
   * one path). Resolves with how many those were.
   */
  release: (path?: string) => Promise<number>;
}

/** Joins the commands of a scope with the origins at which it answers. */
export function scriptedServerApi(
  id: string,
  origins: { second: string; same: string; crossSite: string },
  commands: ScopeCommands,
): ScriptedServer {
  const { requests, aborted, release } = commands;
  const at = (origin: string): ScriptedOrigin => ({
    origin,
    url: (path = '') => {
      if (path !== '' && !path.startsWith('/')) throw new Error(`A scripted path starts with "/": ${path}`);
      return `${origin}/s/${id}${path}`;
    },
  });
  return {
    ...at(origins.second),
    sameOrigin: at(origins.same),
    crossSite: at(origins.crossSite),
    on: async (...rules) => {
      for (const rule of rules) checkRule(rule);
      await commands.on(...rules);
    },
    reset: async (...rules) => {
      for (const rule of rules) checkRule(rule);
      await commands.reset(...rules);
    },
    requests,
    aborted,
    release,
  };
}
