import type { Storage } from '../storage/storage.ts';
import type { TransactionTables } from '../storage/tables.ts';
import { createToken } from './tokens.ts';

/**
 * Gives the demo's vendor back end a token for its environment, as `npm start` does each time. The one that an
 * earlier start made stops working; the one that the environment's owner made does not.
 */
export async function provisionEnvironmentToken(
  storage: Storage,
  environment: string,
  now = Date.now(),
): Promise<string> {
  const token = createToken('environment');
  await storage.transaction(async ({ environments }) => {
    await environments.add(environment, now);
    await environments.setToken(environment, 'demo', token, now);
  });
  return token;
}

/**
 * Makes `email` the owner of an environment that belongs to nobody, and gives it a new token; the owner's former
 * one stops working. `undefined` when the environment is another address's.
 */
export async function issueOwnerToken(
  { environments }: TransactionTables,
  environment: string,
  email: string,
  now: number,
): Promise<string | undefined> {
  await environments.add(environment, now);
  if (!(await environments.claim(environment, email))) return undefined;
  const token = createToken('environment');
  await environments.setToken(environment, 'owner', token, now);
  return token;
}

/** Whether a text can name an environment: letters, digits, hyphens and underscores, in parts joined by periods. */
export const isEnvironmentName = (name: string): boolean =>
  name.length <= 200 && /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name);
