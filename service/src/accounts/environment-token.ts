import type { Store } from '../storage/store.ts';
import { createToken } from './tokens.ts';

/**
 * Gives the demo's vendor back end a token for its environment, as `npm start` does each time. The one that an
 * earlier start made stops working; the one that the environment's owner made does not.
 */
export function provisionEnvironmentToken(store: Store, environment: string, now = Date.now()): string {
  const token = createToken('environment');
  store.transaction(() => {
    store.environments.add(environment, now);
    store.environments.setToken(environment, 'demo', token, now);
  });
  return token;
}

/**
 * Makes `email` the owner of an environment that belongs to nobody, and gives it a new token; the owner's former
 * one stops working. `undefined` when the environment is another address's. Runs inside the caller's transaction.
 */
export function issueOwnerToken(
  store: Store,
  environment: string,
  email: string,
  now: number,
): string | undefined {
  store.environments.add(environment, now);
  if (!store.environments.claim(environment, email)) return undefined;
  const token = createToken('environment');
  store.environments.setToken(environment, 'owner', token, now);
  return token;
}

/** Whether a text can name an environment: letters, digits, hyphens and underscores, in parts joined by periods. */
export const isEnvironmentName = (name: string): boolean =>
  name.length <= 200 && /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name);
