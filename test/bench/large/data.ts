import { Client } from 'pg';
import { hashOfProgram } from '../../../service/src/plugins/program.ts';
import { serializeSource } from '../../../service/src/storage/tables/digest.ts';

/** How much there is of everything. */
export interface Size {
  readonly tenants: number;
  /** Those of the busy tenant included. */
  readonly plugins: number;
  /** Records of runs, those of the busy plugin and of the busy tenant included. */
  readonly runs: number;
  /** The tenant whose lists are read, and that is deleted in the end. */
  readonly busyTenant: { readonly plugins: number; readonly runs: number };
  /** The plugin whose runs and versions are listed. It is the first of a tenant that stays. */
  readonly busyPlugin: { readonly versions: number; readonly runs: number };
}

export const environment = 'com.acme';
export const busyTenant = 'busy';
export const otherTenant = 't000001';

/** The plugin whose runs and versions are listed. */
export const busyPlugin = 'plugin-000001';

const source = {
  lang: 'javascript',
  contents: 'export function run(input) { return input + "!"; }\n',
  tests: [],
};
const program = JSON.stringify({ kind: 'script', code: source.contents, file: 'add-record.js' });
const day = 86_400_000;

/**
 * Fills the tables of a fresh database, by SQL: by HTTP it would take days. All times are within the last
 * days, so that nothing is too old to be kept.
 */
export async function fillDatabase(url: string, size: Size, now = Date.now()): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const run = async (what: string, text: string, values: unknown[] = []) => {
    const began = performance.now();
    await client.query(text, values);
    console.log(`  ${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  };
  try {
    // What is lost here is made again.
    await client.query('set synchronous_commit = off');
    await run(
      'tenants',
      `insert into tenants (environment, name, created_at)
        select $1, case n when $2::int then $3 else 't' || lpad(n::text, 6, '0') end, $4
        from generate_series(1, $2::int) n`,
      [environment, size.tenants, busyTenant, now],
    );
    // The last tenant is the busy one; all others share the other plugins.
    await run(
      'plugins',
      `insert into plugins (tenant_id, namespace, name, created_at, last_patch)
        select tenants.id, 'default', 'plugin-' || lpad(n::text, 6, '0'), $5, case n when 1 then $4::int - 1 else 0 end
        from generate_series(1, $1::int) n
        join tenants on tenants.environment = $6 and tenants.name = case
          when n > $1::int - $2::int then $7
          else 't' || lpad((1 + (n - 1) % ($3::int - 1))::text, 6, '0') end
        order by n`,
      [
        size.plugins,
        size.busyTenant.plugins,
        size.tenants,
        size.busyPlugin.versions,
        now,
        environment,
        busyTenant,
      ],
    );
    const { record, tag, buildDigest, sourceDigest } = await serializeSource(source);
    await run(
      'drafts',
      `insert into drafts (plugin_id, record, lang, tag, build_digest, source_digest, revision, updated_at)
        select id, $1, $2, $3, $4, $5, 1, $6 from plugins`,
      [record, source.lang, tag, buildDigest, sourceDigest, now],
    );
    const hash = hashOfProgram(program);
    await client.query('insert into programs (hash, program) values ($1, $2) on conflict do nothing', [
      hash,
      program,
    ]);
    await run(
      'builds',
      'insert into builds (plugin_id, digest, program_hash, built_at) select id, $1, $2, $3 from plugins',
      [buildDigest, hash, now],
    );
    await run(
      'versions',
      `insert into versions (plugin_id, patch, record, lang, digest, program_hash, created_at)
        select id, patch, $1, $2, $3, $4, $5 from plugins, generate_series(0, last_patch) patch`,
      [record, source.lang, sourceDigest, hash, now],
    );
    await fillRuns(run, size, now);
    await run(
      'usage',
      `insert into usage_days (environment, day, tenant, runs, failures, microseconds, builds)
        select environment, to_char(to_timestamp($1 / 1000.0) at time zone 'UTC' - ago * interval '1 day', 'YYYY-MM-DD'),
          name, 100, 1, 12345, 1
        from tenants, generate_series(0, 1) ago`,
      [now],
    );
    await run('statistics', 'vacuum analyze');
    // Otherwise it is written while something is measured.
    await run('checkpoint', 'checkpoint');
  } finally {
    await client.end();
  }
}

async function fillRuns(
  run: (what: string, text: string, values: unknown[]) => Promise<void>,
  size: Size,
  now: number,
): Promise<void> {
  // Each plugin has as many as the next, but for the busy ones. One of ten has failed.
  const shared = size.runs - size.busyTenant.runs - size.busyPlugin.runs;
  const sharing = size.plugins - size.busyTenant.plugins;
  const parts = [
    ['runs of all', 'name <= $5', shared / sharing, 0],
    ['runs of the busy tenant', 'name > $5', size.busyTenant.runs / size.busyTenant.plugins, 1],
    ['runs of the busy plugin', "$5 <> '' and name = 'plugin-000001'", size.busyPlugin.runs, 2],
  ] as const;
  const lastShared = `plugin-${String(sharing).padStart(6, '0')}`;
  for (const [what, condition, each, kind] of parts) {
    if (each <= 0) continue;
    await run(
      what,
      `insert into runs (id, plugin_id, patch, success, error_code, microseconds, input_bytes, output_bytes, details)
        select
          decode(lpad(to_hex(($1::bigint - (n * $2::bigint) / $3::bigint)), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
            || '8' || $4::text || lpad(to_hex(plugins.id), 14, '0'), 'hex'),
          plugins.id, n % (last_patch + 1), (n % 10 > 0)::int, case n % 10 when 0 then 'plugin-error' end,
          250, 10, 11, '{"logs":["some text that it logs"]}'
        from generate_series(1, $3::bigint) n, plugins
        where ${condition}`,
      [now, 10 * day, Math.max(1, Math.round(each)), String(kind), lastShared],
    );
  }
}
