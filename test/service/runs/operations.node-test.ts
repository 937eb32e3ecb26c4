import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { storeBatch } from '../../../service/src/runs/recording.ts';
import { recordLevels } from '../../../service/src/plugins/record-level.ts';
import { toRecord } from '../../../service/src/runs/to-record.ts';
import type { CompletedRun } from '../../../service/src/runs/to-record.ts';
import { bearer, errorOf, startService } from '../harness.ts';
import { plugin } from '../storage/plugins.ts';
import { deployed, failed, runOf } from './records.ts';
import { addUsage } from '../../../service/src/storage/tables/usage.ts';

interface Run {
  readonly uuid: string;
  readonly [field: string]: unknown;
}

const base = '/api/v1/plugin/com.acme.t1/default/x/runs';
const day = 86_400_000;

/** A service with a version of `com.acme.t1/default/x`, and how to record runs of it and ask for them. */
async function startRuns(t: TestContext) {
  const running = await startService(t);
  const { storage, fetch, environmentToken, clock } = running;
  const token = await environmentToken();
  const version = await deployed(storage);
  /** Records runs, the oldest first, a second apart. */
  const record = async (...changes: Partial<CompletedRun>[]) => {
    const runs = changes.map((one, i) => runOf(version, one, clock.now + i * 1000));
    const records = runs.map((run) => toRecord(run, recordLevels[2]));
    await storeBatch(storage, { records, usage: [] });
    return runs.map(({ id }) => id);
  };
  const get = (path: string, by = token) => fetch(path, { headers: bearer(by) });
  const read = async <T>(path: string) => {
    const response = await get(path);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text) as T;
  };
  const list = (query = '') => read<{ runs: Run[]; next?: string }>(base + query);
  return { ...running, token, version, record, get, read, list };
}

test('a run has all of its recorded fields, in lists and by its id', async (t) => {
  const { record, list, read, clock } = await startRuns(t);
  const error = { code: 'invalid-input', message: 'It must be text.', path: '/a' };
  const [bad, good] = await record(
    { outcome: { error, logs: [] }, took: 0 },
    { outcome: { result: 'ö', logs: ['a', 'b'] }, took: 1.5 },
  );
  const at = (ms: number) => new Date(clock.now + ms).toISOString();
  const common = { ident: 'com.acme.t1', namespace: 'default', name: 'x', version: 'v1.0.0', inputBytes: 5 };
  const expected = [
    {
      ...common,
      uuid: good,
      timestamp: at(1000),
      success: true,
      took: 1.5,
      outputBytes: 2,
      logs: ['a', 'b'],
      input: 'input',
      output: 'ö',
    },
    {
      ...common,
      uuid: bad,
      timestamp: at(0),
      success: false,
      error,
      took: 0,
      outputBytes: 0,
      input: 'input',
    },
  ];
  assert.deepEqual(await list(), { runs: expected });
  for (const run of expected) assert.deepEqual(await read(`/api/v1/run/${run.uuid}`), run);
});

test('runs are listed page by page, each once, while others are recorded', async (t) => {
  const { record, list, get } = await startRuns(t);
  const ids = await record(...Array.from({ length: 25 }, (_, i) => (i % 5 ? {} : failed())));
  const seen: string[] = [];
  let next: string | undefined;
  do {
    const page = await list(`?limit=10${next === undefined ? '' : `&after=${next}`}`);
    seen.push(...page.runs.map(({ uuid }) => uuid));
    next = page.next;
    await record({}, failed());
  } while (next !== undefined);
  assert.deepEqual(
    seen.filter((id) => ids.includes(id)),
    ids.toReversed(),
  );
  assert.equal(new Set(seen).size, seen.length);
  const { next: ofFailures = '' } = await list('?limit=2&success=false');
  const other = await get(`${base}?limit=2&after=${ofFailures}`);
  assert.deepEqual([other.status, (await errorOf(other)).code], [400, 'invalid-cursor']);
});

const long: Readonly<Record<string, Partial<CompletedRun>>> = {
  text: { input: 'i'.repeat(20_000), outcome: { result: 'o'.repeat(20_000), logs: [] } },
  // Lists leave the bodies out.
  'text in the bodies of calls': {
    calls: [
      {
        connection: 'stock',
        method: 'GET',
        url: 'https://stock.example/',
        took: 1,
        requestBytes: 0,
        responseBytes: 40_000,
        responseBody: 'o'.repeat(40_000),
      },
    ],
  },
};

for (const [what, changes] of Object.entries(long)) {
  test(`a page of runs with much ${what} ends early, and has a cursor for the rest`, async (t) => {
    const { record, list } = await startRuns(t);
    const ids = await record(...Array.from({ length: 80 }, () => changes));
    const first = await list('?limit=200');
    assert.ok(first.runs.length > 4 && first.runs.length < 9, String(first.runs.length));
    const seen = [...first.runs];
    for (let { next } = first; next !== undefined;) {
      const page = await list(`?limit=200&after=${next}`);
      seen.push(...page.runs);
      ({ next } = page);
    }
    assert.deepEqual(
      seen.map(({ uuid }) => uuid),
      ids.toReversed(),
    );
  });
}

test('a page of runs with control characters, each of which takes six bytes of JSON, is no longer than others', async (t) => {
  const { record, list } = await startRuns(t);
  await record(...Array.from({ length: 20 }, () => ({ input: '\u0001'.repeat(4000) })));
  const { runs, next } = await list('?limit=200');
  assert.ok(runs.length > 8 && runs.length < 12, String(runs.length));
  assert.ok(next);
});

test('lists can be filtered by version and success', async (t) => {
  const { record, list, get } = await startRuns(t);
  const [first, second] = await record({}, failed());
  const ids = async (query: string) => (await list(query)).runs.map(({ uuid }) => uuid);
  assert.deepEqual(await ids('?success=true'), [first]);
  assert.deepEqual(await ids('?success=false&version=v1.0.0'), [second]);
  assert.deepEqual(await ids('?version=v1.0.1'), []);
  assert.deepEqual(await ids('?version=v2.0.0'), []);
  for (const query of ['?success=1', '?version=1.0', '?limit=0', '?limit=201', '?limit=x']) {
    assert.equal((await errorOf(await get(base + query))).code, 'invalid-query', query);
  }
});

test('an unknown run, or one of another environment, is answered with 404', async (t) => {
  const { record, get, environmentToken, version } = await startRuns(t);
  const [id = ''] = await record({});
  const missing = await get('/api/v1/plugin/com.acme.t1/default/other/runs');
  assert.equal((await errorOf(missing)).code, 'plugin-not-found');
  const unknown = runOf(version).id;
  const other = await environmentToken('com.other');
  for (const path of ['/api/v1/run/', '/api/v2/results/by-uuid/']) {
    assert.equal((await get(path + id)).status, 200);
    assert.equal((await get(path + id.toUpperCase())).status, 200);
    assert.equal((await errorOf(await get(path + unknown))).code, 'run-not-found');
    assert.equal((await errorOf(await get(path + id, other))).code, 'run-not-found');
    assert.equal((await errorOf(await get(`${path}1`))).code, 'invalid-path');
  }
  assert.equal((await get(base, other)).status, 403);
  assert.equal((await get('/api/v1/environment/com.acme/usage', other)).status, 403);
  assert.equal((await get(base, 'nonsense')).status, 401);
});

test('clients of version 0.5 get the five latest runs of a version', async (t) => {
  const { record, read, clock } = await startRuns(t);
  const ids = await record(
    {},
    {},
    {},
    failed('time-limit', 'Too long.'),
    failed('runner-crashed', 'It ended.'),
    failed('plugin-error', 'It threw.'),
    {},
  );
  const { results } = await read<{ results: Run[] }>('/api/v2/results/by-fqmn/com.acme.t1/default/x/v1.0.0');
  assert.deepEqual(
    results.map(({ uuid }) => uuid),
    ids.slice(2).toReversed(),
  );
  assert.deepEqual(
    results.map(({ success, error }) => [success, error]),
    [
      [true, {}],
      [false, { code: 422, message: 'It threw.' }],
      [false, { code: 500, message: 'It ended.' }],
      [false, { code: 504, message: 'Too long.' }],
      [true, {}],
    ],
  );
  const timestamp = new Date(clock.now + 6000).toISOString();
  assert.deepEqual(results[0], { uuid: ids[6], timestamp, success: true, error: {} });
  assert.deepEqual(await read(`/api/v2/results/by-uuid/${ids[6]}`), results[0]);
  const none = await read<{ results: Run[] }>('/api/v2/results/by-fqmn/com.acme.t1/default/x/v1.0.7');
  assert.deepEqual(none.results, []);
});

test('usage is listed by day and then tenant, page by page, by default for the last 30 days', async (t) => {
  const { storage, read, get, clock } = await startRuns(t);
  const rows = [0, 1, 29, 30, 399, 400].flatMap((age) =>
    ['a', 'b', 'B'].map((tenant) => ({
      environment: plugin.environment,
      tenant,
      day: new Date(clock.now - age * day).toISOString().slice(0, 10),
      runs: age + 2,
      failures: 1,
      microseconds: 1500,
      builds: 3,
    })),
  );
  await addUsage(storage.db, [...rows, { ...rows[0], environment: 'com.other' } as (typeof rows)[0]]);
  await addUsage(storage.db, rows.slice(0, 1));
  interface Usage {
    readonly days: { readonly day: string; readonly tenant: string }[];
    readonly next?: string;
  }
  const path = '/api/v1/environment/com.acme/usage';
  const all = await read<Usage>(path);
  assert.deepEqual(
    all.days.map((one) => `${one.day} ${one.tenant}`),
    ['2025-12-03', '2025-12-31', '2026-01-01'].flatMap((name) =>
      ['B', 'a', 'b'].map((tenant) => `${name} ${tenant}`),
    ),
  );
  const [today] = rows;
  assert.deepEqual(
    all.days.find((one) => one.day === today?.day && one.tenant === 'a'),
    { day: today?.day, tenant: 'a', runs: 4, failures: 2, milliseconds: 3, builds: 6 },
  );
  const seen: Usage['days'] = [];
  let next: string | undefined;
  do {
    const page = await read<Usage>(`${path}?limit=2${next === undefined ? '' : `&after=${next}`}`);
    seen.push(...page.days);
    next = page.next;
  } while (next !== undefined);
  assert.deepEqual(seen, all.days);

  const ofTenant = await read<Usage>(`${path}?tenant=a&from=2000-01-01&limit=3`);
  assert.deepEqual(
    ofTenant.days.map((one) => one.day),
    ['2024-11-27', '2024-11-28', '2025-12-02'],
  );
  const rest = await read<Usage>(`${path}?tenant=a&from=2000-01-01&limit=3&after=${ofTenant.next}`);
  assert.deepEqual(
    rest.days.map((one) => one.day),
    ['2025-12-03', '2025-12-31', '2026-01-01'],
  );
  assert.equal((await read<Usage>(`${path}?from=2025-12-31&to=2025-12-31`)).days.length, 3);
  assert.equal((await read<Usage>(`${path}?tenant=nobody`)).days.length, 0);
  assert.equal((await errorOf(await get(`${path}?tenant=a%00`))).code, 'invalid-text');
  for (const query of ['?from=2025-13-01', '?to=yesterday', '?from=2025-12-02&to=2025-12-01', '?tenant=']) {
    assert.equal((await errorOf(await get(path + query))).code, 'invalid-query', query);
  }
});

test('usage by plugin sums up to that of tenants, and both come as CSV without formulas', async (t) => {
  const { storage, get, read, clock, fetch, token } = await startRuns(t);
  const fetchCsv = (to: string) => fetch(to, { headers: { ...bearer(token), accept: 'text/csv' } });
  const of = (age: number, tenant: string, namespace: string, name: string) => ({
    environment: plugin.environment,
    day: new Date(clock.now - age * day).toISOString().slice(0, 10),
    tenant,
    namespace,
    name,
    runs: 2,
    failures: 1,
    microseconds: 2500,
    builds: 1,
  });
  const rows = [
    of(0, 'a', 'n', 'x'),
    of(0, 'a', 'n', '=1+1'),
    of(0, 'a', 'm', '"q", r'),
    of(0, '-b', 'n', 'x'),
    of(0, 'c', '\n=1', '＋1\r\n"'),
  ];
  await addUsage(storage.db, rows);
  await addUsage(storage.db, [of(0, 'a', 'n', 'x'), of(120, 'a', 'n', 'old')]);
  interface Usage {
    readonly days: { readonly tenant: string; readonly name: string; readonly runs: number }[];
    readonly next?: string;
  }
  const path = '/api/v1/environment/com.acme/usage';
  const { days } = await read<Usage>(`${path}?by=plugin`);
  const names = days.map(({ tenant, name, runs }) => `${tenant} ${name} ${runs}`);
  assert.deepEqual(names, ['-b x 2', 'a "q", r 2', 'a =1+1 2', 'a x 4', 'c ＋1\r\n" 2']);
  assert.deepEqual(
    Object.keys(days[0] ?? {}).join(),
    'day,tenant,namespace,name,runs,failures,milliseconds,builds',
  );
  const seen: Usage['days'] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const page: Usage = await read<Usage>(`${path}?by=plugin&limit=1${next && `&after=${next}`}`);
    seen.push(...page.days);
    next = page.next;
  }
  assert.deepEqual(seen, days);
  assert.equal((await read<Usage>(`${path}?tenant=a`)).days[0]?.runs, 8);
  const csvOf = async (query: string) => {
    const response = await fetchCsv(`${path}${query}`);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
    return (await response.text()).split('\r\n');
  };
  assert.deepEqual(await csvOf('?by=plugin&limit=1'), [
    'day,tenant,namespace,name,runs,failures,milliseconds,builds',
    "2026-01-01,'-b,n,x,2,1,2.5,1",
    '2026-01-01,a,m,"""q"", r",2,1,2.5,1',
    "2026-01-01,a,n,'=1+1,2,1,2.5,1",
    '2026-01-01,a,n,x,4,2,5,2',
    // A quoted cell with a line break.
    `2026-01-01,c,"'\n=1","'＋1`,
    '""",2,1,2.5,1',
    '',
  ]);
  const wrong = await fetch(`${path}?after=zz`, { headers: { ...bearer(token), accept: 'text/csv' } });
  assert.equal((await errorOf(wrong)).code, 'invalid-cursor');
  assert.deepEqual(await csvOf('?tenant=a'), [
    'day,tenant,runs,failures,milliseconds,builds',
    '2026-01-01,a,8,4,10,4',
    '',
  ]);
  assert.equal((await errorOf(await get(`${path}?by=tenant`))).code, 'invalid-query');
});
