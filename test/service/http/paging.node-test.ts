import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod';
import { pageQuery, pagingBy, rowsForOldClients } from '../../../service/src/http/paging.ts';
import type { Page } from '../../../service/src/http/paging.ts';

const list = { operation: 'listThings', filter: { environment: 'com.acme', namespace: 'default' } };
const pageByName = pagingBy('text');
const pageNewestFirst = pagingBy('number', 'text');

/** As a database reads it: the rows after a key, in their order, and one more than are answered. */
function read<Row, K>(
  rows: Iterable<Row>,
  page: Page<K>,
  order: (a: K, b: K) => number,
  keyOf: (row: Row) => K,
): Row[] {
  const { after, limit } = page;
  return [...rows]
    .toSorted((a, b) => order(keyOf(a), keyOf(b)))
    .filter((row) => after === undefined || order(after, keyOf(row)) < 0)
    .slice(0, limit);
}

const bytes = ([a]: readonly [string], [b]: readonly [string]) =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));
const newest = (a: readonly [number, string], b: readonly [number, string]) =>
  b[0] - a[0] || bytes([b[1]], [a[1]]);

const asItIs = <T>(row: T) => row;

describe('a list with pages', () => {
  test('ends a page early, and not before its first item, where the items have much JSON', () => {
    const page = pageByName(list, { limit: 3 });
    const toItem = (name: string) => name.repeat(100_000);
    const { items, next } = page.of(['\u0001', '\u0002', 'c'], (name) => [name] as const, toItem);
    assert.equal(items.length, 1);
    assert.deepEqual(pageByName(list, { limit: 3, after: next.next }).after, ['\u0001']);
    const huge = page.of(
      ['a'],
      () => ['a'] as const,
      () => 'x'.repeat(2_000_000),
    );
    assert.deepEqual([huge.items.length, huge.next], [1, {}]);
    const forOldClients = pageByName(list, { limit: rowsForOldClients });
    const whole = forOldClients.of(
      ['a', 'b', 'c'],
      (name) => [name] as const,
      () => 'x'.repeat(1_000_000),
    );
    assert.deepEqual([whole.items.length, whole.next], [3, {}]);
  });

  test('returns names in the order of their bytes, each once, and no cursor after the last', () => {
    const names = ['a', 'B', 'ä', 'z', '😀', '\uFFFF', 'a/b', ''];
    const seen: string[] = [];
    let after: string | undefined;
    let pages = 0;
    do {
      const page = pageByName(list, { limit: 3, after });
      const found = read(names, page, bytes, (name) => [name] as const);
      const { items, next } = page.of(found, (name) => [name] as const, asItIs);
      seen.push(...items);
      after = next.next;
      pages += 1;
    } while (after !== undefined);
    assert.deepEqual(
      seen,
      names.toSorted((a, b) => bytes([a], [b])),
    );
    assert.equal(pages, 3);
  });

  test('returns the newest rows first, and each lasting row once, while others come and go', () => {
    const rows = new Map(
      Array.from({ length: 30 }, (_, i) => [`row-${i}`, { at: Math.floor(i / 4), id: `row-${i}` }]),
    );
    const stays = new Set([...rows.keys()].filter((_, i) => i % 3 !== 0));
    const seen: string[] = [];
    let after: string | undefined;
    let turn = 0;
    do {
      const page = pageNewestFirst(list, { limit: 4, after });
      const found = read(rows.values(), page, newest, ({ at, id }) => [at, id] as const);
      const result = page.of(found, ({ at, id }) => [at, id] as const, asItIs);
      seen.push(...result.items.map(({ id }) => id));
      after = result.next.next;
      turn += 1;
      // Also the last row of the page, which the cursor is of.
      for (const id of rows.keys()) if (!stays.has(id) && rows.size > 15) rows.delete(id);
      rows.set(`new-${turn}`, { at: turn % 2 ? 100 : 0, id: `new-${turn}` });
    } while (after !== undefined);
    assert.deepEqual(seen.filter((id) => stays.has(id)).toSorted(), [...stays].toSorted());
    assert.equal(new Set(seen).size, seen.length);
  });

  test('has no next page when the rows end with the page', () => {
    const page = pageByName(list, { limit: 2 });
    assert.deepEqual(page.of(['a', 'b'], (name) => [name] as const, asItIs).next, {});
    assert.deepEqual(page.of([], (name: string) => [name] as const, asItIs).next, {});
  });
});

describe('a cursor', () => {
  const page = pageByName(list, { limit: 1 });
  const { next } = page.of(['a', 'b'], (name) => [name] as const, asItIs).next;
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [digest] = JSON.parse(Buffer.from(String(next), 'base64url').toString()) as [string];

  test('holds the key of the last row, whatever characters are in it', () => {
    for (const name of ['a', '', 'ä/😀', '"\\', 'x'.repeat(2000)]) {
      const cursor = page.of([name, 'more'], () => [name] as const, asItIs).next.next;
      assert.deepEqual(pageByName(list, { limit: 1, after: cursor }).after, [name]);
    }
  });

  const others: [what: string, other: typeof list | { operation: string; filter: Record<string, string> }][] =
    [
      ['another operation', { ...list, operation: 'listOthers' }],
      ['another environment', { ...list, filter: { ...list.filter, environment: 'com.other' } }],
      ['one filter less', { ...list, filter: { environment: 'com.acme' } }],
      ['one filter more', { ...list, filter: { ...list.filter, success: 'true' } }],
    ];
  for (const [what, other] of others) {
    test(`of ${what} is refused`, () => {
      assert.throws(() => pageByName(other, { limit: 1, after: next }), {
        code: 'invalid-cursor',
        status: 400,
      });
    });
  }

  for (const [what, cursor] of [
    ['nothing', ''],
    ['no base64url', 'ä+/='],
    ['no JSON', 'abcd'],
    ['no list', forged({ digest })],
    ['a key of another type', forged([digest, 5])],
    ['a key of too few parts', forged([digest])],
    ['a key of too many parts', forged([digest, 'a', 'b'])],
    ['a name that no database takes', forged([digest, 'a\0'])],
    ['half a character', forged([digest, '\uD800'])],
    ['nothing but its digest as text', forged(digest)],
  ] as const) {
    test(`that is ${what} is refused`, () => {
      assert.throws(() => pageByName(list, { limit: 1, after: cursor }), {
        code: 'invalid-cursor',
        status: 400,
      });
    });
  }

  test('holds only safe integers as numbers', () => {
    for (const at of [1.5, 2 ** 60, '1', null]) {
      assert.throws(() => pageNewestFirst(list, { limit: 1, after: forged([digest, at, 'x']) }), {
        code: 'invalid-cursor',
      });
    }
    assert.deepEqual(pageNewestFirst(list, { limit: 1, after: forged([digest, -1, 'x']) }).after, [-1, 'x']);
  });

  test('belongs to the same list however its filter is written', () => {
    const other = {
      operation: list.operation,
      filter: { namespace: 'default', tenant: undefined, environment: 'com.acme' },
    };
    assert.deepEqual(pageByName(other, { limit: 1, after: next }).after, ['a']);
  });
});

describe('the query of a list', () => {
  const schema = z.object(pageQuery());

  test('asks for the first 50 rows by default', () => {
    assert.deepEqual(schema.parse({}), { limit: 50 });
    assert.deepEqual(z.object(pageQuery(1000)).parse({}), { limit: 1000 });
    assert.deepEqual(schema.parse({ limit: '200', after: 'x' }), { limit: 200, after: 'x' });
    assert.deepEqual(schema.parse({ limit: '1' }), { limit: 1 });
  });

  for (const limit of ['0', '201', '-1', '1.5', '1e2', ' 5', '', 'x', '9'.repeat(400)]) {
    test(`is refused with the limit "${limit.slice(0, 20)}"`, () => {
      const { error } = schema.safeParse({ limit });
      assert.deepEqual(error?.issues.at(-1)?.path, ['limit']);
    });
  }
});
