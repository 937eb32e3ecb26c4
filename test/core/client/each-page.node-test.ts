import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Page, eachPage } from '../../../src/client.ts';

/** A list of three pages, and the cursors that were requested. */
function list() {
  const cursors: (string | undefined)[] = [];
  const listPage = (after?: string): Promise<Page & { items: number[] }> => {
    cursors.push(after);
    const at = Number(after ?? 0);
    return Promise.resolve({ items: [at], ...(at < 2 && { next: `${at + 1}` }) });
  };
  return { cursors, listPage };
}

describe('eachPage', () => {
  test('requests each page by the cursor of the previous one, until the last', async () => {
    const { cursors, listPage } = list();
    const items = [];
    for await (const page of eachPage(listPage)) items.push(...page.items);
    assert.deepEqual(items, [0, 1, 2]);
    assert.deepEqual(cursors, [undefined, '1', '2']);
  });

  test('requests no more pages than are used', async () => {
    const { cursors, listPage } = list();
    for await (const page of eachPage(listPage)) if (page.items[0] === 1) break;
    assert.deepEqual(cursors, [undefined, '1']);
  });

  test('rejects with the error of the list function', async () => {
    const failed = async () => {
      for await (const _ of eachPage(() => Promise.reject(new Error('gone'))))
        assert.fail('there is no page');
    };
    await assert.rejects(failed, { message: 'gone' });
  });
});
