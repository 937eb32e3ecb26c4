import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyError, Turns } from '../../demo/service/turns.ts';

/** Takes turns, and notes in which order they come. */
function recorder(turns: Turns) {
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const take = async (key: string, name: string, signal?: AbortSignal) => {
    ends.set(name, await turns.take(key, signal));
    order.push(name);
  };
  // What a turn's end sets off has happened once the promises that hang on it have run.
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { order, take, end };
}

const limits = { slots: 2, slotsPerKey: 1, waiting: 6, waitingPerKey: 3 };

test('keys take turns, whoever asked for how much', async () => {
  const { order, take, end } = recorder(new Turns({ ...limits, slots: 1 }));
  const all = [
    take('a', 'a1'),
    take('a', 'a2'),
    take('a', 'a3'),
    take('b', 'b1'),
    take('c', 'c1'),
    take('b', 'b2'),
  ];
  await all[0];
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await end(name);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('one key leaves slots to the others', async () => {
  const { order, take, end } = recorder(new Turns(limits));
  await take('a', 'a1');
  const second = take('a', 'a2');
  await take('b', 'b1');
  assert.deepEqual(order, ['a1', 'b1']);
  await end('b1');
  assert.deepEqual(order, ['a1', 'b1']);
  await end('a1');
  await second;
  assert.deepEqual(order, ['a1', 'b1', 'a2']);
});

test('past the places of a key, or of all, it is refused at once, and free again later', async () => {
  const turns = new Turns(limits);
  const { take, end } = recorder(turns);
  const busy = (own: boolean) => (error: unknown) => error instanceof BusyError && error.own === own;
  await take('a', 'a1');
  const waiting = [take('a', 'a2'), take('a', 'a3'), take('a', 'a4')];
  assert.throws(() => turns.take('a'), busy(true));
  await take('b', 'b1');
  waiting.push(take('b', 'b2'), take('b', 'b3'), take('b', 'b4'));
  assert.throws(() => turns.take('c'), busy(false));
  await end('a1');
  waiting.push(take('a', 'a5'));
  for (const name of ['a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'b3', 'b4']) await end(name);
  await Promise.all(waiting);
  await take('c', 'c1');
});

test('who gives up while waiting loses the place and holds nothing', async () => {
  const { order, take, end } = recorder(new Turns({ ...limits, slots: 1 }));
  await take('a', 'a1');
  const controller = new AbortController();
  const given = assert.rejects(take('b', 'b1', controller.signal), { name: 'AbortError' });
  const next = take('c', 'c1');
  controller.abort();
  await given;
  await end('a1');
  await next;
  await end('c1');
  await take('d', 'd1');
  assert.deepEqual(order, ['a1', 'c1', 'd1']);
});

test('a turn that is ended twice frees one slot', async () => {
  const turns = new Turns({ ...limits, slots: 1 });
  const end = await turns.take('a');
  end();
  end();
  const { order, take } = recorder(turns);
  await take('a', 'a1');
  const second = take('b', 'b1');
  await new Promise(setImmediate);
  assert.deepEqual(order, ['a1']);
  void second;
});
