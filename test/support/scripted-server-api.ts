import { checkRule } from './rule-check.ts';
import { SCOPE_PREFIX, type Command, type Filter, type Rule, type SeenRequest } from './script-rules.ts';

/** A command without the scope's id, which the server object adds. */
type Call = Command extends infer C ? (C extends { id: string } ? Omit<C, 'id'> : never) : never;

/** One origin at which a test's scripted answers are served. */
export interface ScriptedOrigin {
  origin: string;
  /** The address of a scripted path: `url('/token')`. `url()` has no final slash: a base address. */
  url: (path?: string) => string;
}

/**
 * A test's own scripted server. Nothing is shared between two of them: each has its own rules and its own
 * list of requests, below its own path. `origin` and `url` are the second origin's.
 */
export interface ScriptedServer extends ScriptedOrigin {
  /** The same answers on the test page's own origin, as most token endpoints are. */
  sameOrigin: ScriptedOrigin;
  /** The second origin under another host name, and so another site to the browser (cookies, storage). */
  crossSite: ScriptedOrigin;

  /** Adds rules after those that are there. The first that fits and is not used up answers. */
  on: (...rules: Rule[]) => Promise<void>;
  /** Drops all rules and starts over with these. Answers that are held back stay held. */
  reset: (...rules: Rule[]) => Promise<void>;
  /**
   * The requests seen so far, without preflights. With `count` (or a number) the call waits until there are
   * that many; `path` and `method` narrow it down.
   */
  requests: (filter?: number | Filter) => Promise<SeenRequest[]>;
  /** The same for CORS preflights. */
  preflights: (filter?: number | Filter) => Promise<SeenRequest[]>;
  /** The same for requests that the client gave up before it had the whole answer; waits for one by default. */
  aborted: (filter?: number | Filter) => Promise<SeenRequest[]>;
  /**
   * Waits until at least one answer with `delay: 'hang'` is held back, then lets go all that are (or those of
   * one path). Resolves with how many those were.
   */
  release: (path?: string) => Promise<number>;
}

/** Builds the object that tests use on top of a way to send it commands. */
export function scriptedServerApi(
  id: string,
  origins: { second: string; same: string; crossSite: string },
  send: (command: Command) => Promise<unknown>,
): ScriptedServer {
  const at = (origin: string): ScriptedOrigin => ({
    origin,
    url: (path = '') => {
      if (path !== '' && !path.startsWith('/')) throw new Error(`A scripted path starts with "/": ${path}`);
      return `${origin}${SCOPE_PREFIX}${id}${path}`;
    },
  });
  const call = (command: Call): Promise<unknown> => send({ ...command, id });
  const list = async (
    type: 'requests' | 'preflights' | 'aborted',
    filter: number | Filter,
  ): Promise<SeenRequest[]> => {
    const answer = await call({ type, ...(typeof filter === 'number' ? { count: filter } : filter) });
    return answer as SeenRequest[];
  };

  const change = async (type: 'add' | 'reset', rules: Rule[]): Promise<void> => {
    for (const rule of rules) checkRule(rule);
    await call({ type, rules });
  };

  return {
    ...at(origins.second),
    sameOrigin: at(origins.same),
    crossSite: at(origins.crossSite),
    on: (...rules) => change('add', rules),
    reset: (...rules) => change('reset', rules),
    requests: (filter = {}) => list('requests', filter),
    preflights: (filter = {}) => list('preflights', filter),
    aborted: (filter = {}) => list('aborted', typeof filter === 'number' ? filter : { count: 1, ...filter }),
    release: async (path) => (await call({ type: 'release', ...(path ? { path } : {}) })) as number,
  };
}

/** A name for a scope that no other test has. */
export function newScopeId(): string {
  return crypto.randomUUID();
}
