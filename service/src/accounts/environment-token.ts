import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/db.ts';
import { createToken } from './tokens.ts';
import { addEnvironment, claimEnvironment, setEnvironmentToken } from '../storage/tables/environments.ts';

/**
 * The holder of a token that is made without naming one: the client of the service, which may be a vendor's back end or the demo.
 * It is called `demo` because the demo was the first client. It must not be renamed: a new token ends only the former tokens of
 * its own holder, so the former token of an installed vendor would stay valid.
 */
const defaultHolder = 'demo';

export interface ProvisionOptions {
  /** The holder of the token (default: `demo`). */
  readonly holder?: string;
  /** For how many seconds the holder's former tokens stay valid (default 0). */
  readonly overlap?: number;
}

/**
 * Makes a token for an environment, which is added if it does not exist. The holder's former tokens end after the overlap; those of
 * other holders, such as the environment's owner, stay valid.
 */
export async function provisionEnvironmentToken(
  storage: Storage,
  environment: string,
  now = Date.now(),
  { holder = defaultHolder, overlap = 0 }: ProvisionOptions = {},
): Promise<string> {
  const token = createToken('environment');
  await storage.transaction(async (db) => {
    await addEnvironment(db, environment, now);
    await setEnvironmentToken(db, environment, holder, token, now, overlap * 1000);
  });
  return token;
}

/**
 * Makes `email` the owner of an environment that has none, and makes a new token for it; the owner's former token ends. Resolves
 * with `undefined` when another address owns the environment.
 */
export async function issueOwnerToken(
  db: Transaction,
  environment: string,
  email: string,
  now: number,
): Promise<string | undefined> {
  await addEnvironment(db, environment, now);
  if (!(await claimEnvironment(db, environment, email))) return undefined;
  const token = createToken('environment');
  await setEnvironmentToken(db, environment, 'owner', token, now);
  return token;
}

/** Whether a text can be the name of a token's holder, which is shown to people and logged. */
export const isHolderName = (name: string): boolean =>
  name.length >= 1 && name.length <= 200 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(name);

/** Whether a text can be the name of an environment: letters, digits, hyphens and underscores, in parts joined by periods. */
export const isEnvironmentName = (name: string): boolean =>
  name.length <= 200 && /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name);
