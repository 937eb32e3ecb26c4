import type { Context } from 'hono';
import type { ServiceContext } from './context.ts';
import {
  badRequest,
  endedEditorToken,
  forbidden,
  notPermitted,
  outOfScope,
  ServiceError,
  tenantSuspended,
  unauthorized,
} from './errors.ts';
import { actorSchema, checkStorable } from './grant-schemas.ts';
import { describeIssues } from './operations/issues.ts';
import type { QueueOwner } from '../processes/fair-queue.ts';
import { hasScope } from '../plugins/permissions.ts';
import type { Permission, Scope } from '../plugins/permissions.ts';
import { isInScope, type PluginKey, type PluginScope } from '../plugins/plugin-key.ts';
import type { Admission } from './admission.ts';
import { requestInfo } from './request-info.ts';
import { hashToken, tokenKind } from '../tokens.ts';
import type { TokenKind } from '../tokens.ts';
import { setRequestOwner } from '../storage/turns.ts';
import { findEnvironmentToken } from '../storage/tables/environments.ts';
import type { EnvironmentToken } from '../storage/tables/environments.ts';
import { findEditorToken } from '../storage/tables/editor-tokens.ts';

/**
 * Which token an operation needs:
 * - `none`: none; the request counts for the rate of the client's address
 * - `monitor`: none, and the request counts for no rate, so that a monitor is never refused
 * - `editor`: an editor token whose scope the path is in
 * - `environment`: a token of the environment that the path names
 * - `run`: the same for a run, which reads from the database only what this node has not cached, and counts for the rates of
 *   runs instead of that of the token
 * - `editor-or-environment`: an editor or an environment token
 * - `optional`: none is needed; one that is sent has to be a valid editor or environment token
 */
export type Auth =
  'none' | 'monitor' | 'editor' | 'environment' | 'run' | 'editor-or-environment' | 'optional';

/** The caller of a request with an editor token. */
export interface EditorCaller {
  readonly kind: 'editor';
  /** The plugins that the token is for. */
  readonly scope: PluginScope;
  readonly permissions: readonly Permission[];
  /** The vendor's id for the person that the token was given to. */
  readonly actor?: string;
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly tokenHash: Uint8Array;
  /** What its jobs count for in the fair queues. */
  readonly owner: QueueOwner;
}

/** The caller of a request with an environment token. */
export interface EnvironmentCaller {
  readonly kind: 'environment';
  readonly environment: string;
  /** The id of the token. */
  readonly tokenId: string;
  /** What the token permits. */
  readonly scopes: readonly Scope[];
  /** Whose token it is. */
  readonly holder: string;
  /** The vendor's id for the person on whose behalf it asks, of the header `x-actor`. */
  readonly actor?: string;
  /** When the token ends, in milliseconds since the epoch; `undefined` while nothing has replaced it. */
  readonly expiresAt?: number;
}

export type CallerOf<A extends Auth> =
  | (A extends 'editor' | 'editor-or-environment' | 'optional' ? EditorCaller : never)
  | (A extends 'environment' | 'run' | 'editor-or-environment' | 'optional' ? EnvironmentCaller : never)
  | (A extends 'none' | 'monitor' | 'optional' ? undefined : never);

type NeededScope = Scope | readonly Scope[] | 'any';

/**
 * Makes sure that a request has a token that is valid for the target of its path. Throws 401 without a valid token of a kind
 * that the operation takes; 403 where the token is for another target or lacks the permission, or where its tenant is suspended;
 * and 429 past the rate of the token or, without a valid token, of the client's address.
 * @param permission what an editor token has to permit
 * @param scope what an environment token has to permit: all of it where there are several
 */
export async function authorize(
  c: Context,
  context: ServiceContext,
  {
    auth,
    permission = 'read',
    scope = 'any',
  }: { auth: Auth; permission?: Permission | undefined; scope?: NeededScope | undefined },
  target: Partial<PluginKey>,
): Promise<EditorCaller | EnvironmentCaller | undefined> {
  if (auth === 'monitor') return undefined;
  if (auth === 'none' || (auth === 'optional' && !c.req.header('authorization'))) {
    await context.admission.takeAddress(c);
    return undefined;
  }
  const { token, kind } = await bearerToken(c, context.admission, tokenKinds[auth]);
  if (kind === 'editor') return editorCaller(c, token, context, { permission, target });
  return environmentCaller(c, token, context, { auth, scope, target });
}

/** The kinds of tokens that an operation takes. */
const tokenKinds = {
  editor: ['editor'],
  environment: ['environment'],
  run: ['environment'],
  'editor-or-environment': ['editor', 'environment'],
  optional: ['editor', 'environment'],
} as const satisfies Record<Exclude<Auth, 'none' | 'monitor'>, readonly TokenKind[]>;

async function editorCaller(
  c: Context,
  token: string,
  { storage, admission, now }: ServiceContext,
  { permission, target }: { permission: Permission; target: Partial<PluginKey> },
): Promise<EditorCaller> {
  const hash = hashToken(token);
  const id = Buffer.from(hash).toString('hex', 0, 8);
  setRequestOwner({ ...unknownCaller, token: id });
  const found = await admission.takeToken(c, hash, async () => {
    const known = await findEditorToken(storage.db, token, now());
    if (known) return known;
    throw endedEditorToken();
  });
  const { scope, permissions, actor, expiresAt, isSuspended } = found;
  const info = requestInfo(c);
  info.actor = actor;
  info.environment ??= scope.environment;
  info.tenant ??= scope.tenant;
  if (!isInScope(target, scope)) throw forbidden('The editor token is for another plugin.');
  if (isSuspended) throw tenantSuspended();
  if (!permissions.includes(permission)) throw notPermitted(permission);
  const { environment, tenant } = scope;
  const owner = { environment, tenant, token: id };
  setRequestOwner(owner);
  return {
    kind: 'editor',
    scope,
    permissions,
    ...(actor !== undefined && { actor }),
    expiresAt,
    tokenHash: hash,
    owner,
  };
}

/** Whose share of the database the look-up of a token takes, apart from other tokens: what it is for is not known yet. */
const unknownCaller = { environment: '', tenant: 'unknown' };

/** For anything but a run the token is looked up in the database, so that one that was ended on another node is refused at once. */
async function environmentCaller(
  c: Context,
  token: string,
  { storage, admission, now }: ServiceContext,
  { auth, scope, target }: { auth: Auth; scope: NeededScope; target: Partial<PluginKey> },
): Promise<EnvironmentCaller> {
  const hash = hashToken(token);
  const id = Buffer.from(hash).toString('hex', 0, 8);
  setRequestOwner({ ...unknownCaller, token: id });
  const found =
    auth === 'run'
      ? await admission.checkToken(c, hash, async () =>
          requireKnownToken(await storage.runs.environmentToken(token, now(), hash)),
        )
      : await admission.takeToken(c, hash, async () =>
          requireKnownToken(await findEnvironmentToken(storage.db, token, now())),
        );
  const { id: tokenId, environment, holder, scopes, endsAt } = found;
  const info = requestInfo(c);
  info.holder = holder;
  const actor = readActorHeader(c);
  info.actor = actor;
  info.environment ??= environment;
  if (target.environment !== undefined && target.environment !== environment) {
    throw forbidden('The environment token is for another environment.');
  }
  const missing = scope === 'any' ? undefined : [scope].flat().find((one) => !hasScope(scopes, one));
  if (missing) throw outOfScope(missing);
  setRequestOwner({ environment, tenant: target.tenant ?? '', token: id });
  return {
    kind: 'environment',
    environment,
    tokenId,
    scopes,
    holder,
    ...(actor !== undefined && { actor }),
    ...(endsAt !== undefined && { expiresAt: endsAt }),
  };
}

/** The actor in the header `x-actor`, which is percent-encoded UTF-8. Throws 400 where it is not, or cannot be an actor. */
function readActorHeader(c: Context): string | undefined {
  const header = c.req.header('x-actor');
  if (header === undefined) return undefined;
  // Node reads a header as Latin-1, in which UTF-8 that is not encoded would be other characters.
  if (/[^\x20-\x7e]/.test(header)) throw invalidActor(notEncoded);
  try {
    const { success, data, error } = actorSchema.safeParse(decodeURIComponent(header));
    if (!success) throw invalidActor(describeIssues(error.issues, 'the header x-actor'));
    checkStorable({ actor: data });
    return data;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidActor(notEncoded);
  }
}

const notEncoded = 'the header x-actor: must be percent-encoded UTF-8.';

const invalidActor = (message: string) => badRequest('invalid-header', message);

/** Throws 401 for a token that was not found. */
function requireKnownToken(found: EnvironmentToken | undefined): EnvironmentToken {
  if (found !== undefined) return found;
  throw unauthorized(
    'token-invalid',
    'The environment token is unknown, or a newer one has taken its place.',
  );
}

/** As {@link readBearerToken}. A request without such a token counts for the rate of the client's address. */
async function bearerToken(
  c: Context,
  admission: Admission,
  kinds: readonly [TokenKind, ...TokenKind[]],
): Promise<{ token: string; kind: TokenKind }> {
  try {
    return readBearerToken(c, kinds);
  } catch (error) {
    await admission.takeAddress(c);
    throw error;
  }
}

/**
 * The token of a request and its kind. A token without a known prefix counts as the first kind that the operation takes. Throws
 * 401 without a bearer token, and for one of a kind that the operation does not take.
 */
function readBearerToken(
  c: Context,
  kinds: readonly [TokenKind, ...TokenKind[]],
): { token: string; kind: TokenKind } {
  const needed = `This needs an ${kinds.join(' or ')} token`;
  const header = c.req.header('authorization');
  if (!header) {
    throw unauthorized('token-missing', `${needed}, in the header "authorization: Bearer <token>".`);
  }
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) {
    throw unauthorized('token-invalid', 'The authorization header is not of the form "Bearer <token>".');
  }
  const kind = tokenKind(token) ?? kinds[0];
  if (!kinds.includes(kind)) throw unauthorized('token-invalid', `${needed}, and got an ${kind} token.`);
  return { token, kind };
}
