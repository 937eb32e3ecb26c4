import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Storage } from '../storage/storage.ts';
import { withTimeout } from '../with-timeout.ts';

export interface ReadinessSources {
  readonly storage: Storage;
  readonly sandbox: Sandbox;
  /** Whether the service is shutting down. */
  readonly isDraining: () => boolean;
}

/** Whether the service is ready for requests, and which of its parts work. */
export type Readiness =
  | { readonly ready: false; readonly draining: true }
  | {
      readonly ready: boolean;
      readonly database: boolean;
      readonly schema: boolean;
      readonly sandbox: boolean;
    };

/** How long the database may take to respond, in ms; a proxy does not wait longer. */
const databaseTimeout = 2000;

/** For how long a result of the check is shared, in ms, so that frequent probes do not burden the database. */
const sharedTime = 250;

/** Makes the function that checks whether requests should come to this node. */
export function createReadinessCheck({
  storage,
  sandbox,
  isDraining,
}: ReadinessSources): () => Promise<Readiness> {
  const checkStorage = shareResult(sharedTime, () =>
    withTimeout(storage.check(), databaseTimeout, () => ({ database: false, schema: false })),
  );
  return async () => {
    if (isDraining()) return { ready: false, draining: true };
    const parts = { ...(await checkStorage()), sandbox: sandbox.isReady };
    return { ready: Object.values(parts).every(Boolean) && !isDraining(), ...parts };
  };
}

/** Shares one call of `work` among all callers while it runs and for `milliseconds` after. */
function shareResult<T>(milliseconds: number, work: () => Promise<T>): () => Promise<T> {
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
