import * as z from 'zod';
import { dayOf, usageDays } from '../../runs/usage-sum.ts';
import type { ServiceInterface } from '../context.ts';
import { badRequest } from '../errors.ts';
import { json, respond } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { checkStorable } from '../grant-schemas.ts';
import { dayLength } from '../../units.ts';
import { listUsage } from '../../storage/tables/usage.ts';

const paging = pagingBy('text', 'text');

/** How many days are returned by default. */
const defaultDays = 30;

const dayQuery = (description: string) =>
  z.iso.date({ error: 'must be a day as YYYY-MM-DD' }).optional().meta({ description });

/** What the tenants of an environment used. */
export const usage: ServiceInterface = {
  operations: [
    operation({
      id: 'getUsage',
      method: 'GET',
      path: '/api/v1/environment/:environment/usage',
      summary: 'List what tenants used, by UTC day and then tenant',
      description: `Usage is kept for ${usageDays} days, also that of tenants that were deleted since.`,
      tag: 'environment',
      auth: 'environment',
      query: z.object({
        ...pageQuery(),
        from: dayQuery('The first day; by default the last 30 days are listed.'),
        to: dayQuery('The last day, included; by default today.'),
        tenant: z.string().min(1).optional().meta({ description: 'Only the usage of this tenant.' }),
      }),
      responses: {
        200: json(
          z.object({
            days: z.array(
              z
                .object({
                  day: z.iso.date(),
                  tenant: z.string(),
                  runs: z.int().min(0),
                  failures: z.int().min(0),
                  milliseconds: z.number().min(0),
                  builds: z.int().min(0),
                })
                .meta({ id: 'UsageOfDay' }),
            ),
            next: z.string().optional(),
          }),
          { description: 'Days on which a tenant used nothing are not in the list.' },
        ),
      },
      errors: { 400: ['invalid-text'] },
      async handle({ target, query }, { storage, now }) {
        const { tenant, from, to } = query;
        checkStorable({ tenant });
        const { environment } = target;
        const range = rangeOf(query, now());
        // By the parameters as they were sent: a default range would change at midnight, and invalidate cursors.
        const list = { operation: 'getUsage', filter: { environment, tenant, from, to } };
        const request = paging.readRequest(list, query);
        const after = request.after && { day: request.after[0], tenant: request.after[1] };
        const found = await listUsage(storage.db, environment, daysOf(range, now()), request.limit + 1, {
          tenant,
          after,
        });
        const { items, next } = paging.toPage(
          list,
          request,
          found,
          (row) => [row.day, row.tenant],
          ({ day, tenant: name, runs, failures, microseconds, builds }) => ({
            day,
            tenant: name,
            runs,
            failures,
            milliseconds: microseconds / 1000,
            builds,
          }),
        );
        return respond(200, { days: items, ...next });
      },
    }),
  ],
};

interface Range {
  readonly from: string;
  readonly to: string;
}

function rangeOf({ from, to }: { from?: string | undefined; to?: string | undefined }, now: number): Range {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Date.parse(last) - (defaultDays - 1) * dayLength);
  if (first > last) throw badRequest('invalid-query', 'from: must not be after `to`.', '/from');
  return { from: first, to: last };
}

/** The days of a range that there can be usage of. */
function daysOf({ from, to }: Range, now: number): string[] {
  // A node whose clock is ahead may have counted for tomorrow.
  const newest = now + dayLength;
  const days = Array.from({ length: usageDays + 2 }, (_, i) => dayOf(newest - i * dayLength)).toReversed();
  return days.filter((day) => day >= from && day <= to);
}
