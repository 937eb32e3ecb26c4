import type { Context } from 'hono';
import type { ServiceContext } from './context.ts';
import { badRequest, forbidden, unauthorized } from './errors.ts';
import type { Share } from '../processes/fair-queue.ts';
import { samePlugin, splitIdentifier } from '../plugins/plugin-key.ts';
import type { PluginKey } from '../plugins/plugin-key.ts';
import { pathParameter } from './routes.ts';
import { hashToken, tokenKind } from '../accounts/tokens.ts';
import type { TokenKind } from '../accounts/tokens.ts';

/** The plugin that the path names by `:identifier`, `:namespace` and one more parameter. */
export function pluginOfPath(c: Context, nameParameter = 'pluginName'): PluginKey {
  const owner = splitIdentifier(pathParameter(c, 'identifier'));
  if (!owner) {
    throw badRequest('invalid-path', "The path's identifier must be an environment, a period and a tenant.");
  }
  return { ...owner, namespace: pathParameter(c, 'namespace'), pluginName: pathParameter(c, nameParameter) };
}

/** Throws 401 without a valid editor token, 403 when it is another plugin's. Returns whose share its work is of. */
export async function requireEditorToken(
  c: Context,
  { storage, now }: ServiceContext,
  plugin: PluginKey,
): Promise<Share> {
  const token = bearerToken(c, 'editor');
  const scope = await storage.tables.editorTokens.find(token, now());
  if (!scope)
    throw unauthorized('token-invalid', 'The editor token is unknown or has expired; get a new one.');
  if (!samePlugin(scope, plugin)) throw forbidden('The editor token is for another plugin.');
  const { environment, tenant } = plugin;
  return { environment, tenant, token: Buffer.from(hashToken(token)).toString('hex', 0, 8) };
}

/**
 * Throws 401 without a valid environment token, 403 when it is another environment's. Asks the database, so that a token
 * that was ended on another node is good no more.
 */
export async function requireEnvironmentToken(
  c: Context,
  { storage }: ServiceContext,
  environment: string,
): Promise<void> {
  const scope = await storage.tables.environments.findByToken(bearerToken(c, 'environment'));
  checkEnvironment(scope, environment);
}

/** The same for a run, which asks the database only what this node does not know: see `storage/run-lookup.ts`. */
export async function requireRunToken(
  c: Context,
  { storage }: ServiceContext,
  environment: string,
): Promise<void> {
  checkEnvironment(await storage.runs.environmentOfToken(bearerToken(c, 'environment')), environment);
}

function checkEnvironment(scope: string | undefined, environment: string): void {
  if (scope === undefined) {
    throw unauthorized(
      'token-invalid',
      'The environment token is unknown, or a newer one has taken its place.',
    );
  }
  if (scope !== environment) throw forbidden('The environment token is for another environment.');
}

function bearerToken(c: Context, kind: TokenKind): string {
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
