import * as z from 'zod';
import { dayOf, pluginUsageDays, usageDays } from '../../runs/usage-sum.ts';
import type { ServiceInterface } from '../context.ts';
import { badRequest } from '../errors.ts';
import { json, respond } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import type { Page } from '../paging.ts';
import { checkStorable } from '../grant-schemas.ts';
import { dayLength } from '../../units.ts';
import { listPluginUsage, listUsage } from '../../storage/tables/usage.ts';
import type { PluginUsageOfDay, UsageOfDay, UsagePage } from '../../storage/tables/usage.ts';
import { accepts, textStream } from '../event-stream.ts';

const [pageByTenant, pageByPlugin] = [pagingBy('text', 'text'), pagingBy('text', 'text', 'text', 'text')];

const csv = 'text/csv';

const usageOfDay = z
  .object({
    day: z.iso.date().meta({ description: 'By UTC.' }),
    tenant: z.string(),
    namespace: z.string().optional().meta({ description: 'With `by=plugin`, as `name`.' }),
    name: z.string().optional(),
    runs: z.int().min(0),
    failures: z.int().min(0).meta({ description: 'How many of the runs failed.' }),
    milliseconds: z.number().min(0).meta({ description: 'How long the runs took together, in ms.' }),
    builds: z.int().min(0),
  })
  .meta({ id: 'UsageOfDay' });

/** How many days are returned by default. */
const defaultDays = 30;

/** A parameter of a query that is a day. */
export const dayQuery = (description: string) =>
  z.iso.date({ error: 'must be a day as YYYY-MM-DD' }).optional().meta({ description });

/** A parameter of a query that is a tenant. An ident, which other operations take, would find nothing. */
export const tenantQuery = (description: string) =>
  z
    .string()
    .regex(/^[^.]+$/, { error: 'must be the tenant alone, such as customer-7 of com.acme.customer-7' })
    .optional()
    .meta({ description });

/** What the tenants of an environment used. */
export const usage: ServiceInterface = {
  operations: [
    operation({
      id: 'getUsage',
      method: 'GET',
      path: '/api/v1/environment/:environment/usage',
      summary: 'List what tenants used, by UTC day and then tenant',
      description: `Usage is kept for ${usageDays} days, and by plugin for ${pluginUsageDays} days, even if the tenant or plugin was deleted.`,
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      query: z.object({
        ...pageQuery(),
        from: dayQuery('The first day by UTC; by default the last 30 days are listed.'),
        to: dayQuery('The last day, included; by default today.'),
        tenant: tenantQuery('Only the usage of this tenant: its name alone, such as `customer-7`.'),
        by: z
          .literal('plugin')
          .optional()
          .meta({ description: 'The usage of each plugin, with its `namespace` and `name`.' }),
      }),
      responses: {
        200: json(z.object({ days: z.array(usageOfDay), next: z.string().optional() }), {
          description: 'The days on which a tenant, or plugin, used something.',
          rows: {
            type: csv,
            description:
              "All days as lines, with the fields of the JSON as columns. A text that a spreadsheet would take for a formula begins with `'`.",
          },
        }),
      },
      errors: { 400: ['invalid-text'] },
      async handle({ c, target: { environment }, query }, { storage, now }) {
        const { tenant, from, to, by } = query;
        checkStorable({ tenant });
        const days = daysOf(dayRange(query, now()), now());
        // By the parameters as they were sent: a default range would change at midnight, and invalidate cursors.
        const list = { operation: 'getUsage', filter: { environment, tenant, from, to, by } };
        const read = (page: UsagePage): Promise<FoundUsage[]> =>
          (by ? listPluginUsage : listUsage)(storage.db, { environment, days, tenant }, page);
        const page: Page<readonly string[]> = by ? pageByPlugin(list, query) : pageByTenant(list, query);
        if (accepts(c, csv))
          return textStream(c, `${csv}; charset=utf-8`, (write) => writeCsv(read, by, write));
        const { items, next } = page.of(await read(page), keysOf, toDay);
        return respond(200, { days: items, ...next });
      },
    }),
  ],
};

type FoundUsage = UsageOfDay & Partial<Pick<PluginUsageOfDay, 'namespace' | 'name'>>;

const keysOf = ({ day, tenant, namespace, name }: FoundUsage): string[] =>
  [day, tenant, namespace, name].filter((one) => one !== undefined);

function toDay({ day, tenant, namespace, name, runs, failures, microseconds, builds }: FoundUsage) {
  return {
    day,
    tenant,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    runs,
    failures,
    milliseconds: microseconds / 1000,
    builds,
  };
}

/** How many lines of CSV are read at once. */
const batch = 500;

async function writeCsv(
  read: (page: UsagePage) => Promise<FoundUsage[]>,
  by: 'plugin' | undefined,
  write: (text: string) => Promise<boolean>,
): Promise<void> {
  const columns = ['day', 'tenant', ...(by ? ['namespace', 'name'] : []), ...countColumns];
  if (!(await write(csvLine(columns)))) return;
  for (let after: readonly string[] | undefined; ;) {
    const rows = await read({ limit: batch, after });
    const last = rows.at(-1);
    after = last && keysOf(last);
    const lines = rows.map((row) => csvLine(Object.values(toDay(row))));
    if (!last || !(await write(lines.join(''))) || rows.length < batch) return;
  }
}

const countColumns = ['runs', 'failures', 'milliseconds', 'builds'];

/** A line of CSV, as RFC 4180 has it. */
const csvLine = (cells: readonly (string | number)[]): string =>
  `${cells.map((cell) => (typeof cell === 'number' ? String(cell) : csvCell(cell))).join(',')}\r\n`;

function csvCell(text: string): string {
  // A spreadsheet takes a text that begins like this for a formula, some the wide characters, too.
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Days by UTC, both included. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** The days that a query asks for, by default the last 30. Throws 400 where the first is after the last. */
export function dayRange(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  now: number,
): DayRange {
  const last = to ?? dayOf(now);
  const first = from ?? dayOf(Date.parse(last) - (defaultDays - 1) * dayLength);
  if (first > last) throw badRequest('invalid-query', 'from: must not be after `to`.', '/from');
  return { from: first, to: last };
}

/** The days of a range that there can be usage of. */
function daysOf({ from, to }: DayRange, now: number): string[] {
  // A node whose clock is ahead may have counted for tomorrow.
  const newest = now + dayLength;
  const days = Array.from({ length: usageDays + 2 }, (_, i) => dayOf(newest - i * dayLength)).toReversed();
  return days.filter((day) => day >= from && day <= to);
}
