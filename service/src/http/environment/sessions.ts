import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { editorTokenSchema } from '../access.ts';
import type { ServiceInterface } from '../context.ts';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { Transaction } from '../../storage/db.ts';
import { issueEditorToken, stampFor } from '../editor-token-issue.ts';
import { forbidden } from '../errors.ts';
import { empty, json } from '../operations/responses.ts';
import { optionalJsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import {
  actorSchema,
  permissionsSchema,
  checkStorable,
  scopesSchema,
  tokenPermissions,
} from '../grant-schemas.ts';
import { permissions, permissionsOf } from '../../plugins/permissions.ts';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import type { PluginScope, TenantKey } from '../../plugins/plugin-key.ts';
import { tenantNotFound, usageOf, usageSchema } from './tenant-details.ts';
import { endEditorToken, endSomeEditorTokens } from '../../storage/tables/editor-tokens.ts';
import { findTenant } from '../../storage/tables/tenants.ts';

/** The shortest and the longest time that a client may request for an editor token to live, in seconds. */
const [shortestLife, longestLife] = [60, 86_400];

/** How long a name may be, in bytes: half of what the names in a path may have together, so that two of them fit. */
const maxNameBytes = 1000;

const nameSchema = z
  .string()
  .min(1)
  .refine((name) => name !== '.' && name !== '..', 'must not be "." or ".."')
  .refine((name) => Buffer.byteLength(name) <= maxNameBytes, `must have at most ${maxNameBytes} bytes`);

// Strict, so that a misspelt field never gives a token a wider scope than was meant.
const sessionRequest = z
  .strictObject({
    namespace: nameSchema.optional().meta({ description: 'The namespace that the token is for.' }),
    fn: nameSchema
      .optional()
      .meta({ description: 'The plugin that the token is for; without `namespace`, one of `default`.' }),
    permissions: permissionsSchema.optional().meta({
      description:
        'What the token permits. `read` is always included. By default `read`, `write` and `deploy`, as far as the scopes of the environment token allow.',
    }),
    actor: actorSchema.optional(),
    expires_in: z.int().min(shortestLife).max(longestLife).optional().meta({
      description: 'How long the token is valid, in seconds; by default `EDITOR_TOKEN_TTL` (900).',
    }),
    identifier: z
      .unknown()
      .optional()
      .meta({ description: 'Ignored: clients of version 0.5 send it.', deprecated: true }),
  })
  .meta({ id: 'SessionRequest' });

const sessionSchema = z
  .object({
    ident: z.string().optional().meta({ description: 'Only for an editor token: whose plugins it is for.' }),
    environment: z.string(),
    namespace: z.string().optional().meta({ description: 'The namespace, if the token is for one.' }),
    fn: z.string().optional().meta({ description: 'The plugin, if the token is for one.' }),
    permissions: z.array(z.enum(permissions)).meta({
      description:
        'What an editor token permits; for an environment token, what editor tokens made with it can permit.',
    }),
    scopes: scopesSchema.optional().meta({ description: 'Only for an environment token: what it permits.' }),
    actor: actorSchema.optional(),
    expires_in: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'How long it is still valid, in seconds; missing if it does not end by itself.' }),
    usage: usageSchema.optional().meta({ description: 'Only for an editor token: what its tenant stores.' }),
  })
  .meta({ id: 'Session' });

/** Editor tokens for a plugin, a namespace or a tenant, and the token of the request itself. */
export const sessions: ServiceInterface = {
  operations: [
    operation({
      id: 'createSession',
      method: 'POST',
      path: '/api/v1/tenant/:ident/session',
      summary: 'Get an editor token for a plugin, a namespace or a tenant',
      description:
        'Without `fn`, it is for all plugins of the namespace; without `fn` and `namespace`, for all plugins of the tenant. An unknown field is 422, so that a misspelt name never permits more. Creates the tenant if it never existed.',
      tag: 'environment',
      auth: 'environment',
      scope: 'access',
      body: optionalJsonBody(sessionRequest, {
        description: 'Which plugins the token is for, and what it permits.',
      }),
      responses: { 201: json(editorTokenSchema, { description: 'A new token.' }) },
      errors: { 403: ['tenant-suspended', 'tenant-deleted'] },
      handle: async ({ c, target, caller, body: asked = {} }, context) => {
        const { namespace, fn, actor, expires_in: lifetime = context.editorTokenTtl } = asked;
        checkStorable({ namespace, fn, actor });
        const editorToken = {
          scope: scopeOf(target, namespace, fn),
          permissions: tokenPermissions(caller.scopes, asked.permissions),
          ...(actor !== undefined && { actor }),
        };
        const stamp = stampFor(auditStamp(c, caller, context), actor);
        const details = {
          permissions: editorToken.permissions,
          expires_in: lifetime,
          ...(actor !== undefined && { actor }),
        };
        const entry = { ...stamp, action: 'session.created' as const, target: editorToken.scope, details };
        const writeEntry = (db: Transaction) => writeAudit(db, entry);
        const body = await issueEditorToken(context, editorToken, { lifetime, stamp, writeEntry });
        return { status: 201, body };
      },
    }),

    operation({
      id: 'endSessions',
      method: 'DELETE',
      path: '/api/v1/tenant/:ident/sessions',
      summary: "End a tenant's editor tokens",
      tag: 'environment',
      auth: 'environment',
      scope: 'manage',
      query: z.object({
        actor: actorSchema.optional().meta({ description: 'Ends only the tokens of this actor.' }),
      }),
      responses: { 204: empty({ description: 'The tokens have ended.' }) },
      errors: { 400: ['invalid-text'], 404: ['tenant-not-found'] },
      handle: async ({ c, target, caller, query: { actor } }, context) => {
        checkStorable({ actor });
        const stamp = auditStamp(c, caller, context);
        const details = { ...(actor !== undefined && { actor }) };
        const { storage } = context;
        const { id, hasMore } = await storage.transaction(async (db) => {
          const tenant = await findTenant(db, target);
          if (!tenant) throw tenantNotFound();
          const more = await endSomeEditorTokens(db, tenant.id, actor);
          await writeAudit(db, { ...stamp, action: 'sessions.ended', target, details });
          return { id: tenant.id, hasMore: more };
        });
        // To end all of them at once would keep others from the database for seconds.
        if (hasMore) while (await endSomeEditorTokens(storage.db, id, actor)) await sleep(1);
        return { status: 204 };
      },
    }),

    operation({
      id: 'getSession',
      method: 'GET',
      path: '/api/v1/session',
      summary: 'Read what the token of the request is for',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'any',
      permission: 'read',
      responses: {
        200: json(sessionSchema, {
          description: 'What the token is for, what it permits, and for how long.',
        }),
      },
      handle: async ({ caller }, context) => {
        const expiry =
          caller.expiresAt === undefined
            ? {}
            : { expires_in: Math.max(0, Math.floor((caller.expiresAt - context.now()) / 1000)) };
        if (caller.kind === 'environment') {
          return {
            status: 200,
            body: {
              environment: caller.environment,
              permissions: permissionsOf(caller.scopes),
              scopes: caller.scopes,
              ...(caller.actor !== undefined && { actor: caller.actor }),
              ...expiry,
            },
          };
        }
        const { scope, actor } = caller;
        return {
          status: 200,
          body: {
            ident: joinIdentifier(scope),
            environment: scope.environment,
            ...(scope.namespace !== undefined && { namespace: scope.namespace }),
            ...(scope.pluginName !== undefined && { fn: scope.pluginName }),
            permissions: caller.permissions,
            ...(actor !== undefined && { actor }),
            ...expiry,
            usage: await usageOf(context, scope),
          },
        };
      },
    }),

    operation({
      id: 'endSession',
      method: 'DELETE',
      path: '/api/v1/session',
      summary: 'End the editor token of the request',
      description: 'An environment token is 403: `deleteToken` ends those.',
      tag: 'environment',
      auth: 'editor-or-environment',
      scope: 'any',
      permission: 'read',
      responses: { 204: empty({ description: 'The token has ended.' }) },
      handle: async ({ c, caller }, context) => {
        if (caller.kind === 'environment') {
          throw forbidden(
            'This ends editor tokens only; to end an environment token, use deleteToken with its id.',
          );
        }
        const { tokenHash, scope: target, actor } = caller;
        const stamp = auditStamp(c, caller, context);
        const details = { ...(actor !== undefined && { actor }), own: true };
        await context.storage.transaction(async (db) => {
          await endEditorToken(db, tokenHash);
          await writeAudit(db, { ...stamp, action: 'sessions.ended', target, details });
        });
        return { status: 204 };
      },
    }),
  ],
};

/** The scope of a new token: one plugin, which is of `default` where no namespace is given, a namespace, or the whole tenant. */
const scopeOf = (
  { environment, tenant }: TenantKey,
  namespace: string | undefined,
  fn: string | undefined,
): PluginScope => ({
  environment,
  tenant,
  ...((namespace !== undefined || fn !== undefined) && { namespace: namespace ?? 'default' }),
  ...(fn !== undefined && { pluginName: fn }),
});
