import * as z from 'zod';
import { createToken } from '../../accounts/tokens.ts';
import type { ServiceInterface } from '../context.ts';
import { notFound } from '../errors.ts';
import { empty, json } from '../operations/responses.ts';
import { optionalJsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { timeSchema, toTime } from './plugin-details.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { actorSchema, checkStorable } from '../grant-schemas.ts';
import {
  deleteEnvironmentToken,
  listEnvironmentTokens,
  setEnvironmentToken,
} from '../../storage/tables/environments.ts';

const path = '/api/v1/environment/:environment/tokens';

/** How long the former tokens of a holder stay valid, in seconds: by default, and at most. */
const [usualOverlap, longestOverlap] = [3600, 86_400];

const holderSchema = actorSchema.meta({
  description: 'Whose token it is, as logs name it; each holder has tokens of its own.',
  example: 'billing',
});

const tokenSchema = z.object({
  id: z.string(),
  holder: z.string(),
  createdAt: timeSchema,
  endsAt: timeSchema.optional().meta({ description: 'Where a newer one has taken its place.' }),
});

const paging = pagingBy('text');

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
        const list = { operation: 'listTokens', filter: { environment } };
        const request = paging.readRequest(list, query);
        const found = await listEnvironmentTokens(storage.db, environment, now(), {
          after: request.after?.[0],
          limit: request.limit + 1,
        });
        const { items, next } = paging.toPage(
          list,
          request,
          found,
          ({ id }) => [id],
          ({ id, holder, createdAt, endsAt }) => ({
            id,
            holder,
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
      summary: 'Make an environment token',
      description:
        'The former tokens of its holder, the asking one included where it is of that holder, end after the overlap.',
      tag: 'environment',
      auth: 'environment',
      body: optionalJsonBody(
        z
          .object({
            holder: holderSchema.optional(),
            overlap: z
              .int()
              .min(0)
              .max(longestOverlap)
              .optional()
              .meta({ description: `Seconds, by default ${usualOverlap}; it never prolongs a token.` }),
          })
          .meta({ id: 'EnvironmentTokenRequest' }),
        {
          description:
            'Whom the new token is for, by default the holder of the token of this request, and how long the former tokens stay valid.',
        },
      ),
      responses: {
        201: json(z.object({ id: z.string(), token: z.string().min(1) }).meta({ id: 'EnvironmentToken' }), {
          description: 'The new token. No other response holds it.',
        }),
      },
      handle: async ({ target: { environment }, caller, body: asked = {} }, { storage, now }) => {
        const { holder = caller.holder, overlap = usualOverlap } = asked;
        checkStorable({ holder });
        const token = createToken('environment');
        const id = await storage.transaction((db) =>
          setEnvironmentToken(db, environment, holder, token, now(), overlap * 1000),
        );
        return { status: 201, body: { id, token } };
      },
    }),

    operation({
      id: 'deleteToken',
      method: 'DELETE',
      path: `${path}/:id`,
      summary: 'End an environment token at once',
      tag: 'environment',
      auth: 'environment',
      responses: { 204: empty({ description: 'The token has ended.' }) },
      errors: { 404: ['token-not-found'] },
      handle: async ({ target: { environment }, path: { id } }, { storage, now }) => {
        const isDeleted = await storage.transaction((db) =>
          deleteEnvironmentToken(db, environment, id, now()),
        );
        if (!isDeleted) throw notFound('token-not-found', 'This environment has no such token.');
        return { status: 204 };
      },
    }),
  ],
};
