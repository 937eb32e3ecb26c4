import * as z from 'zod';
import type { ServiceInterface } from './context.ts';
import { writeHourlyAudit } from '../audit/entries.ts';
import { auditStamp } from './audit-stamp.ts';
import { issueEditorToken, stampFor } from './editor-token-issue.ts';
import { json } from './operations/responses.ts';
import { operation } from './operations/operation.ts';
import { permissions } from '../plugins/permissions.ts';
import {
  actorSchema,
  permissionsParameter,
  permissionsSchema,
  checkStorable,
  tokenPermissions,
} from './grant-schemas.ts';

/** A new editor token, in a response. */
export const editorTokenSchema = z
  .object({
    token: z.string().min(1).meta({ description: 'An editor token.' }),
    expires_in: z.int().positive().meta({ description: 'How long it is valid, in seconds.' }),
    permissions: permissionsSchema,
    actor: actorSchema.optional(),
  })
  .meta({
    id: 'EditorToken',
    example: { token: 'pe_edit_…', expires_in: 900, permissions: permissions.slice(0, 3) },
  });

/** The access interface: an editor token for one plugin, in exchange for an environment token. */
export const access: ServiceInterface = {
  operations: [
    operation({
      id: 'createEditorToken',
      method: 'GET',
      path: '/auth/v2/access/:identifier/:namespace/:ext',
      summary: 'Get an editor token for a plugin',
      description: 'Creates the tenant if it never existed.',
      tag: 'access',
      auth: 'environment',
      scope: 'access',
      query: z.object({
        permissions: permissionsParameter,
        actor: actorSchema.optional().meta({
          description: 'Your opaque id for the person who gets the token. Drafts, versions and pins keep it.',
        }),
      }),
      responses: { 200: json(editorTokenSchema, { description: 'A new token.' }) },
      errors: { 400: ['invalid-text'], 403: ['tenant-suspended', 'tenant-deleted'] },
      handle: async ({ c, target, query, caller }, context) => {
        checkStorable({ actor: query.actor });
        const editorToken = {
          scope: target,
          permissions: tokenPermissions(caller.scopes, query.permissions),
          ...(query.actor !== undefined && { actor: query.actor }),
        };
        const { hourlyEntries, editorTokenTtl: lifetime } = context;
        const stamp = stampFor(auditStamp(c, caller, context), query.actor);
        const { scope: _, ...details } = editorToken;
        const entry = { ...stamp, action: 'access.given' as const, target, details };
        const isNew = !hourlyEntries.has(entry);
        const body = await issueEditorToken(context, editorToken, {
          lifetime,
          stamp,
          ...(isNew && { writeEntry: (db) => writeHourlyAudit(db, entry) }),
        });
        if (isNew) hourlyEntries.add(entry);
        return { status: 200, body };
      },
    }),
  ],
};
