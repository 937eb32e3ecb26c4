import type { Hono } from 'hono';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Storage } from '../storage/storage.ts';
import { route } from './routes.ts';

export interface HealthSources {
  readonly storage: Storage;
  readonly sandbox: Sandbox;
  /** Whether the service was told to end. */
  readonly isDraining: () => boolean;
}

/** What the answer of `/readyz` says of each part. */
interface Readiness {
  readonly database: boolean;
  readonly schema: boolean;
  readonly sandbox: boolean;
}

/** How long the database may take to answer, in ms; a proxy does not wait longer. */
const patience = 2000;

/** For how long an answer of the database holds, in ms: who asks more often does not make it work more. */
const holdsFor = 250;

/**
 * Adds `/healthz`, which answers while the process lives, and `/readyz`, which is 503 while requests should go elsewhere. Both
 * answer any `Host`: whoever watches the service asks by its address.
 */
export function health(app: Hono, { storage, sandbox, isDraining }: HealthSources): void {
  const checkStorage = sharedFor(holdsFor, () =>
    Promise.race([
      storage.check(),
      new Promise<Pick<Readiness, 'database' | 'schema'>>((resolve) => {
        setTimeout(() => resolve({ database: false, schema: false }), patience).unref();
      }),
    ]),
  );
  route(app, '/healthz', {
    // Some proxies cannot send a run again that found the port closed: by the body they know in time that it will be.
    GET: (c) => c.json({ alive: true, ...(isDraining() && { draining: true }) }),
  });
  route(app, '/readyz', {
    GET: async (c) => {
      if (isDraining()) return c.json({ ready: false, draining: true }, 503);
      const readiness: Readiness = { ...(await checkStorage()), sandbox: sandbox.isReady };
      const ready = Object.values(readiness).every(Boolean) && !isDraining();
      return c.json({ ready, ...readiness }, ready ? 200 : 503);
    },
  });
}

/** Shares one call of `work` among all who ask while it is under way and for a while after. */
function sharedFor<T>(milliseconds: number, work: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  return () => {
    if (shared) return shared;
    const current = work();
    shared = current;
    const forget = () => {
      setTimeout(() => {
        if (shared === current) shared = undefined;
      }, milliseconds).unref();
    };
    current.then(forget, forget);
    return current;
  };
}
