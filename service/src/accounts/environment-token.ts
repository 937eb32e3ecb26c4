import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/db.ts';
import { createToken } from '../tokens.ts';
import { unattendedStamp, writeAudit } from '../audit/entries.ts';
import type { AuditStamp } from '../audit/entries.ts';
import { scopes as allScopes, sortedScopes } from '../plugins/permissions.ts';
import type { Scope } from '../plugins/permissions.ts';
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
  /** What the token permits (default: everything). */
  readonly scopes?: readonly Scope[];
}

interface IssuedEnvironmentToken {
  readonly id: string;
  readonly token: string;
}

/**
 * Makes a token for a holder, and notes it, and which tokens it ends, in the audit log.
 * @param overlap in ms
 */
export async function issueEnvironmentToken(
  db: Transaction,
  environment: string,
  {
    holder,
    overlap = 0,
    scopes = allScopes,
  }: { holder: string; overlap?: number; scopes?: readonly Scope[] },
  stamp: AuditStamp,
): Promise<IssuedEnvironmentToken> {
  const token = createToken('environment');
  const asked = { holder, token, overlap, scopes };
  const { id, ended } = await setEnvironmentToken(db, environment, asked, stamp.at);
  const target = { environment };
  for (const { id: endedId, endsAt } of ended) {
    const details = { id: endedId, holder, endsAt: new Date(endsAt).toISOString() };
    await writeAudit(db, { ...stamp, action: 'token.ended', target, details });
  }
  const details = { id, holder, scopes: sortedScopes(scopes) };
  await writeAudit(db, { ...stamp, action: 'token.created', target, details });
  return { id, token };
}

/**
 * Makes a token for an environment, which is added if it does not exist. The holder's former tokens with the same scopes end after the
 * overlap; those of other holders, such as the environment's owner, stay valid.
 */
export async function provisionEnvironmentToken(
  storage: Storage,
  environment: string,
  now = Date.now(),
  { holder = defaultHolder, overlap = 0, scopes = allScopes }: ProvisionOptions = {},
): Promise<string> {
  const { token } = await storage.transaction(async (db) => {
    await addEnvironment(db, environment, now);
    const options = { holder, overlap: overlap * 1000, scopes };
    return issueEnvironmentToken(db, environment, options, unattendedStamp('operator', now));
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
  const options = { holder: 'owner' };
  const { token } = await issueEnvironmentToken(db, environment, options, unattendedStamp('operator', now));
  return token;
}

/** Whether a text can be the name of a token's holder, which is shown to people and logged. */
export const isHolderName = (name: string): boolean =>
  name.length >= 1 && name.length <= 200 && !/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u.test(name);

/** Whether a text can be the name of an environment: letters, digits, hyphens and underscores, in parts joined by periods. */
export const isEnvironmentName = (name: string): boolean =>
  name.length <= 200 && /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u.test(name);
