import type { Context } from 'hono';
import type { ServiceContext } from './context.ts';
import { forbidden, ServiceError, unauthorized } from './errors.ts';
import type { Share } from '../processes/fair-queue.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { RequestLimits } from './request-limits.ts';
import { requestInfo } from './request-info.ts';
import { hashToken, tokenKind } from '../accounts/tokens.ts';
import type { TokenKind } from '../accounts/tokens.ts';
import type { EnvironmentToken } from '../storage/tables/environments.ts';

/**
 * Which token an operation needs:
 * - `none`: none; it counts for the rate of the client's address
 * - `watch`: none, and it counts for no rate, so that whoever watches the service is never refused
 * - `editor`: an editor token of what the path is about
 * - `environment`: an environment token of the environment that the path is about
 * - `run`: the same for a run, which asks the database only what this node does not know, and counts for the rates of runs
 *   in place of the token's
 * - `either`: an editor or an environment token
 */
export type Auth = 'none' | 'watch' | 'editor' | 'environment' | 'run' | 'either';

/** Who asks with an editor token. */
export interface EditorCaller {
  readonly kind: 'editor';
  /** What the token opens. */
  readonly scope: PluginKey;
  /** Whose share of the machine its work is of. */
  readonly share: Share;
}

/** Who asks with an environment token. */
export interface EnvironmentCaller {
  readonly kind: 'environment';
  readonly environment: string;
  /** Whose token it is. */
  readonly holder: string;
}

export type CallerOf<A extends Auth> =
  | (A extends 'editor' | 'either' ? EditorCaller : never)
  | (A extends 'environment' | 'run' | 'either' ? EnvironmentCaller : never)
  | (A extends 'none' | 'watch' ? undefined : never);

/**
 * Makes sure that the token of a request is good for what its path is about. Throws 401 without a valid token of the kind that
 * is needed, 403 where it is for something else.
 */
export async function authorize(
  c: Context,
  context: ServiceContext,
  auth: Auth,
  target: Partial<PluginKey>,
): Promise<EditorCaller | EnvironmentCaller | undefined> {
  switch (auth) {
    case 'none':
      await context.limits.takeAddress(c);
      return undefined;
    case 'watch':
      return undefined;
    default:
      return countingFailures(c, context.limits, async () => {
        const { token, kind } = bearerToken(c, tokenKinds[auth]);
        if (kind === 'editor') return editorCaller(token, context, target);
        return environmentCaller(c, token, context, { auth, target });
      });
  }
}

const tokenKinds = {
  editor: ['editor'],
  environment: ['environment'],
  run: ['environment'],
  either: ['editor', 'environment'],
} as const satisfies Partial<Record<Auth, readonly TokenKind[]>>;

async function editorCaller(
  token: string,
  { storage, limits, now }: ServiceContext,
  target: Partial<PluginKey>,
): Promise<EditorCaller> {
  const hash = hashToken(token);
  const scope = await limits.takeToken(hash, async () => {
    const found = await storage.tables.editorTokens.find(token, now());
    if (found) return found;
    throw unauthorized('token-invalid', 'The editor token is unknown or has expired; get a new one.');
  });
  if (!isWithin(scope, target)) throw forbidden('The editor token is for another plugin.');
  const { environment, tenant } = scope;
  const share = { environment, tenant, token: Buffer.from(hash).toString('hex', 0, 8) };
  return { kind: 'editor', scope, share };
}

/** Whether what the path says is what the token says. A path that says less, such as that of a list, is of the token's scope. */
const isWithin = (scope: PluginKey, target: Partial<PluginKey>) =>
  (['environment', 'tenant', 'namespace', 'pluginName'] as const).every(
    (key) => target[key] === undefined || target[key] === scope[key],
  );

/** Where it is for no run it asks the database, so that a token that was ended on another node is good no more. */
async function environmentCaller(
  c: Context,
  token: string,
  { storage, limits, now }: ServiceContext,
  { auth, target }: { auth: Auth; target: Partial<PluginKey> },
): Promise<EnvironmentCaller> {
  const found =
    auth === 'run'
      ? knownToken(await storage.runs.environmentToken(token, now()))
      : await limits.takeToken(hashToken(token), async () =>
          knownToken(await storage.tables.environments.findToken(token, now())),
        );
  const { environment, holder } = found;
  requestInfo(c).holder = holder;
  if (target.environment !== undefined && target.environment !== environment) {
    throw forbidden('The environment token is for another environment.');
  }
  return { kind: 'environment', environment, holder };
}

/** Counts what `authenticate` refuses for want of a good token, so that nobody tries tokens, or makes us look, for ever. */
async function countingFailures<T>(
  c: Context,
  limits: RequestLimits,
  authenticate: () => Promise<T>,
): Promise<T> {
  try {
    return await authenticate();
  } catch (error) {
    if (error instanceof ServiceError && error.status === 401) await limits.takeAddress(c);
    throw error;
  }
}

function knownToken(found: EnvironmentToken | undefined): EnvironmentToken {
  if (found !== undefined) return found;
  throw unauthorized(
    'token-invalid',
    'The environment token is unknown, or a newer one has taken its place.',
  );
}

/** The token of a request, and which of the kinds that are possible it is of; the first where its text does not say. */
function bearerToken(
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
