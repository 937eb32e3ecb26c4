import type { Context } from 'hono';
import type { ServiceContext } from './context.ts';
import { badRequest, forbidden, unauthorized } from './errors.ts';
import type { Share } from '../processes/fair-queue.ts';
import { samePlugin, splitIdentifier } from '../plugins/plugin-key.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import type { RequestLimits } from './request-limits.ts';
import { pathParameter } from './routes.ts';
import { requestInfo } from './request-info.ts';
import { hashToken, tokenKind } from '../accounts/tokens.ts';
import type { TokenKind } from '../accounts/tokens.ts';
import type { EnvironmentToken } from '../storage/tables/environments.ts';

/** The plugin that the path names by `:identifier`, `:namespace` and one more parameter. */
export function pluginOfPath(c: Context, nameParameter = 'pluginName'): PluginKey {
  const owner = splitIdentifier(pathParameter(c, 'identifier'));
  if (!owner) {
    throw badRequest('invalid-path', "The path's identifier must be an environment, a period and a tenant.");
  }
  Object.assign(requestInfo(c), owner);
  return { ...owner, namespace: pathParameter(c, 'namespace'), pluginName: pathParameter(c, nameParameter) };
}

/** Throws 401 without a valid editor token, 403 when it is another plugin's. Returns whose share its work is of. */
export async function requireEditorToken(
  c: Context,
  { storage, limits, now }: ServiceContext,
  plugin: PluginKey,
): Promise<Share> {
  const token = await bearerToken(c, limits, 'editor');
  const hash = hashToken(token);
  const scope = await limits.takeToken(c, hash, async () => {
    const found = await storage.tables.editorTokens.find(token, now());
    if (found) return found;
    throw unauthorized('token-invalid', 'The editor token is unknown or has expired; get a new one.');
  });
  if (!samePlugin(scope, plugin)) throw forbidden('The editor token is for another plugin.');
  const { environment, tenant } = plugin;
  return { environment, tenant, token: Buffer.from(hash).toString('hex', 0, 8) };
}

/**
 * Throws 401 without a valid environment token, 403 when it is another environment's. Asks the database, so that a token
 * that was ended on another node is good no more.
 */
export async function requireEnvironmentToken(
  c: Context,
  { storage, limits, now }: ServiceContext,
  environment: string,
): Promise<void> {
  const token = await bearerToken(c, limits, 'environment');
  const found = await limits.takeToken(c, hashToken(token), async () =>
    knownToken(await storage.tables.environments.findToken(token, now())),
  );
  checkEnvironment(c, found, environment);
}

/**
 * The same for a run, which asks the database only what this node does not know: see `storage/run-lookup.ts`. It counts for
 * the rates of runs, and not for that of its token, which all runs of an environment share.
 */
export async function requireRunToken(
  c: Context,
  { storage, limits, now }: ServiceContext,
  environment: string,
): Promise<void> {
  const token = await bearerToken(c, limits, 'environment');
  const found = await limits.checkToken(c, hashToken(token), async () =>
    knownToken(await storage.runs.environmentToken(token, now())),
  );
  checkEnvironment(c, found, environment);
}

function knownToken(found: EnvironmentToken | undefined): EnvironmentToken {
  if (found !== undefined) return found;
  throw unauthorized(
    'token-invalid',
    'The environment token is unknown, or a newer one has taken its place.',
  );
}

function checkEnvironment(c: Context, found: EnvironmentToken, environment: string): void {
  requestInfo(c).holder = found.holder;
  if (found.environment !== environment) throw forbidden('The environment token is for another environment.');
}

/** The token of a request. One without any is counted for the address of its client. */
async function bearerToken(c: Context, limits: RequestLimits, kind: TokenKind): Promise<string> {
  try {
    return readBearerToken(c, kind);
  } catch (error) {
    await limits.takeAddress(c);
    throw error;
  }
}

function readBearerToken(c: Context, kind: TokenKind): string {
  const header = c.req.header('authorization');
  if (!header) {
    throw unauthorized(
      'token-missing',
      `This needs an ${kind} token, in the header "authorization: Bearer <token>".`,
    );
  }
  const token = /^Bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) {
    throw unauthorized('token-invalid', 'The authorization header is not of the form "Bearer <token>".');
  }
  const actual = tokenKind(token);
  if (actual && actual !== kind) {
    throw unauthorized('token-invalid', `This needs an ${kind} token, and got an ${actual} token.`);
  }
  return token;
}
