import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
import { issueEnvironmentToken } from '../../accounts/environment-token.ts';
import { hasScope } from '../../plugins/permissions.ts';
import type { Scope } from '../../plugins/permissions.ts';
import type { ServiceInterface } from '../context.ts';
import { notFound, ServiceError } from '../errors.ts';
import { empty, json } from '../operations/responses.ts';
import { optionalJsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { timeSchema, toTime } from './plugin-details.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { actorSchema, checkStorable, scopesSchema } from '../grant-schemas.ts';
import {
  deleteEnvironmentToken,
  findEnvironmentTokenById,
  listEnvironmentTokens,
} from '../../storage/tables/environments.ts';

const path = '/api/v1/environment/:environment/tokens';

/** How long the former tokens of a holder stay valid, in seconds: by default, and at most. */
const [usualOverlap, longestOverlap] = [3600, 86_400];

const holderSchema = actorSchema.meta({
  description:
    'The name of the program that holds the token; logs show it. A new token replaces only tokens of the same holder.',
  example: 'billing',
});

const tokenSchema = z.object({
  id: z.string(),
  holder: z.string(),
  scopes: scopesSchema,
  createdAt: timeSchema,
  endsAt: timeSchema.optional().meta({ description: 'When it ends, if a newer one replaces it.' }),
});

const pageOf = pagingBy('text');

/** The tokens of an environment, to be replaced without a gap. */
export const environmentTokens: ServiceInterface = {
  operations: [
    operation({
      id: 'listTokens',
      method: 'GET',
      path,
      summary: 'List the valid environment tokens',
      description: 'The oldest first. Only the response of createToken holds a token itself.',
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(
          z
            .object({ tokens: z.array(tokenSchema), next: z.string().optional() })
            .meta({ id: 'EnvironmentTokenList' }),
          { description: 'The tokens.' },
        ),
      },
      handle: async ({ target: { environment }, query }, { storage, now }) => {
        const page = pageOf({ operation: 'listTokens', filter: { environment } }, query);
        const found = await listEnvironmentTokens(storage.db, environment, now(), {
          after: page.after?.[0],
          limit: page.limit,
        });
        const { items, next } = page.of(
          found,
          ({ id }) => [id],
          ({ id, holder, scopes, createdAt, endsAt }) => ({
            id,
            holder,
            scopes,
            createdAt: toTime(createdAt),
            ...(endsAt !== undefined && { endsAt: toTime(endsAt) }),
          }),
        );
        return { status: 200, body: { tokens: items, ...next } };
      },
    }),

    operation({
      id: 'createToken',
      method: 'POST',
      path,
      summary: 'Create an environment token',
      description:
        'Earlier tokens of the same holder with the same scopes end after `overlap`; the token of the request can be one of them. A token cannot create one with more scopes than it has.',
      tag: 'environment',
      auth: 'environment',
      scope: 'any',
      body: optionalJsonBody(
        z
          .object({
            holder: holderSchema.optional(),
            scopes: scopesSchema.optional().meta({
              description: 'What the new token permits; by default what the token of the request permits.',
            }),
            overlap: z
              .int()
              .min(0)
              .max(longestOverlap)
              .optional()
              .meta({
                description: `How long the earlier tokens stay valid, in seconds, by default ${usualOverlap}. It never prolongs one.`,
              }),
          })
          .meta({ id: 'EnvironmentTokenRequest' }),
        {
          description:
            'For whom the new token is, and what it permits. By default both are as for the token of the request.',
        },
      ),
      responses: {
        201: json(z.object({ id: z.string(), token: z.string().min(1) }).meta({ id: 'EnvironmentToken' }), {
          description: 'The new token. No other response holds it.',
        }),
      },
      errors: { 403: ['not-permitted'] },
      handle: async ({ c, target: { environment }, caller, body: asked = {} }, context) => {
        const { holder = caller.holder, overlap = usualOverlap, scopes = caller.scopes } = asked;
        checkStorable({ holder });
        const excess = findExcess(caller.scopes, scopes);
        if (excess !== undefined)
          throw notGiven(`scopes: the asking token does not have "${excess}", so that it cannot give it.`);
        const options = { holder, overlap: overlap * 1000, scopes };
        const stamp = auditStamp(c, caller, context);
        const body = await context.storage.transaction((db) =>
          issueEnvironmentToken(db, environment, options, stamp),
        );
        return { status: 201, body };
      },
    }),

    operation({
      id: 'deleteToken',
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'End an environment token at once',
      tag: 'environment',
      auth: 'environment',
      scope: 'any',
      responses: { 204: empty({ description: 'The token has ended.' }) },
      description: 'A token ends itself, and those that have no more scopes than it has.',
      errors: { 403: ['not-permitted'], 404: ['token-not-found'] },
      handle: async ({ c, target: { environment }, caller, path: { id } }, context) => {
        const { storage, now } = context;
        const stamp = auditStamp(c, caller, context);
        await storage.transaction(async (db) => {
          const found = await findEnvironmentTokenById(db, environment, id, now());
          if (!found) throw tokenNotFound();
          const excess = id === caller.tokenId ? undefined : findExcess(caller.scopes, found.scopes);
          if (excess !== undefined)
            throw notGiven(`The asking token does not have the scope "${excess}" of this token.`);
          if (!(await deleteEnvironmentToken(db, environment, id, now()))) throw tokenNotFound();
          const details = { id, holder: found.holder };
          await writeAudit(db, { ...stamp, action: 'token.ended', target: { environment }, details });
        });
        return { status: 204 };
      },
    }),
  ],
};

/** The first scope that a token lacks of others. */
const findExcess = (granted: readonly Scope[], others: readonly Scope[]): Scope | undefined =>
  others.find((one) => !hasScope(granted, one));

const notGiven = (message: string) => new ServiceError(403, 'not-permitted', message);

const tokenNotFound = () => notFound('token-not-found', 'This environment has no such token.');
