import * as z from 'zod';
import { auditActions } from '../../audit/entries.ts';
import { listAudit } from '../../audit/list-entries.ts';
import type { AuditEntry, AuditFilter } from '../../audit/list-entries.ts';
import { auditLimits } from '../../audit/retention.ts';
import { joinIdentifier } from '../../plugins/plugin-key.ts';
import { dayLength } from '../../units.ts';
import type { ServiceInterface } from '../context.ts';
import { accepts, textStream } from '../event-stream.ts';
import { actorSchema, checkStorable } from '../grant-schemas.ts';
import { json } from '../operations/responses.ts';
import { operation } from '../operations/operation.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { dayQuery, dayRange, tenantQuery } from '../runs/usage.ts';
import { timeSchema, toTime } from './plugin-details.ts';

const pageOf = pagingBy('text');

const ndjson = 'application/x-ndjson';

/** How many entries of a stream are read at once. */
const batch = 200;

const entrySchema = z
  .object({
    id: z.uuid(),
    at: timeSchema,
    action: z.enum(auditActions).meta({ description: 'What was done.' }),
    by: z
      .object({
        kind: z.enum(['environment-token', 'editor-token', 'operator', 'service']),
        via: z.literal('mcp').optional().meta({ description: 'Set if an agent did it by `/mcp`.' }),
        holder: z.string().optional().meta({ description: 'The holder of the environment token.' }),
        actor: z.string().optional().meta({ description: 'The vendor’s id for the person.' }),
      })
      .meta({ description: 'Who did it.' }),
    ident: z
      .string()
      .optional()
      .meta({ description: 'What it was done to, as `namespace`, `name` and `version`.' }),
    namespace: z.string().optional(),
    name: z.string().optional(),
    version: z.string().optional(),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'More about it; the fields depend on the action.' }),
    requestId: z.uuid().meta({ description: '`x-request-id` of the response to the request that did it.' }),
  })
  .meta({
    id: 'AuditEntry',
    example: {
      id: '019a0b2c-4d5e-7f60-8123-456789abcdef',
      at: '2026-11-22T09:00:00.000Z',
      action: 'plugin.live',
      by: { kind: 'environment-token', holder: 'back-end', actor: 'user-42' },
      ident: 'com.acme.customer-7',
      namespace: 'default',
      name: 'add-record',
      version: 'v1.0.3',
      details: { pinned: true },
      requestId: '019a0b2c-4d5e-7f60-8123-456789abcd00',
    },
  });

/** The audit log of an environment. */
export const audit: ServiceInterface = {
  operations: [
    operation({
      id: 'listAudit',
      method: 'GET',
      path: '/api/v1/environment/:environment/audit',
      summary: 'List who changed what, and who read what, newest first',
      description: `Entries are kept for ${auditLimits.days} days, and at most 1 GB for an environment, even if what they name is deleted.`,
      tag: 'environment',
      auth: 'environment',
      scope: 'read',
      query: z.object({
        ...pageQuery(),
        from: dayQuery('The first day by UTC; by default the last 30 days are listed.'),
        to: dayQuery('The last day, included; by default today.'),
        tenant: tenantQuery('Only entries about this tenant: its name alone, such as `customer-7`.'),
        action: z.enum(auditActions).optional().meta({ description: 'Only entries of this action.' }),
        actor: actorSchema.optional().meta({ description: 'Only what this actor did.' }),
      }),
      responses: {
        200: json(
          z
            .object({ entries: z.array(entrySchema), next: z.string().optional() })
            .meta({ id: 'AuditEntryList' }),
          {
            description: 'The entries.',
            rows: { type: ndjson, description: 'All entries, each as a line of JSON, without pages.' },
          },
        ),
      },
      errors: { 400: ['invalid-text'] },
      async handle({ c, target: { environment }, query }, { storage, now }) {
        const { from, to, tenant, action, actor } = query;
        checkStorable({ tenant, actor });
        const days = dayRange(query, now());
        // A node whose clock is ahead may have written entries of tomorrow.
        const end = to === undefined ? now() + dayLength : Date.parse(days.to) + dayLength;
        const filter = { environment, from: Date.parse(days.from), to: end, tenant, action, actor };
        const asked = { environment, from, to, tenant, action, actor };
        const page = pageOf({ operation: 'listAudit', filter: asked }, query);
        const { signal } = c.req.raw;
        if (accepts(c, ndjson)) {
          const readAfter = (id: string | undefined) =>
            listAudit(storage.db, filter, { before: id, limit: batch, signal });
          return textStream(c, ndjson, (write) => writeLines(readAfter, environment, write));
        }
        const before = page.after?.[0];
        const found = await listAudit(storage.db, filter, { before, limit: page.limit, signal });
        const { items, next } = page.of(
          found,
          ({ id }) => [id],
          (entry) => toDetails(environment, entry),
        );
        return { status: 200, body: { entries: items, ...next } };
      },
    }),
  ],
};

async function writeLines(
  readAfter: (id: string | undefined) => Promise<AuditEntry[]>,
  environment: AuditFilter['environment'],
  write: (text: string) => Promise<boolean>,
): Promise<void> {
  for (let last: string | undefined; ;) {
    const entries = await readAfter(last);
    last = entries.at(-1)?.id;
    const lines = entries.map((entry) => `${JSON.stringify(toDetails(environment, entry))}\n`);
    if (last === undefined || !(await write(lines.join(''))) || entries.length < batch) return;
  }
}

const toDetails = (
  environment: string,
  { at, tenant, id, action, by, requestId, ...others }: AuditEntry,
): z.input<typeof entrySchema> => ({
  id,
  at: toTime(at),
  action,
  by,
  ...(tenant !== undefined && { ident: joinIdentifier({ environment, tenant }) }),
  ...others,
  requestId,
});
