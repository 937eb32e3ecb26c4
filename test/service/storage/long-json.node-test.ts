import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringifyMembers, stringifyText } from '../../../service/src/storage/long-json.ts';

const length = 2 ** 19;
const texts = {
  'an empty text': '',
  'control characters': '\u0001'.repeat(length),
  'pairs of surrogates': '😀'.repeat(length / 2),
  'pairs of surrogates after an odd number of characters': `x${'😀'.repeat(length / 2)}`,
  'high surrogates before pairs': `x${'\ud83d😀'.repeat(length / 3)}`,
  'surrogates without their other halves': '\ud83d'.repeat(length) + '\udc00'.repeat(length),
};

test('a long text has the JSON that it has when it is serialized at once', async () => {
  // Compared by `===`, because a difference of long texts is shown whole.
  for (const [name, text] of Object.entries(texts))
    assert.ok((await stringifyText(text)) === JSON.stringify(text), name);
  const object = { b: 1, a: texts['control characters'], none: undefined, list: [{ 'ä"': null }] };
  assert.ok((await stringifyMembers(object)) === JSON.stringify(object));
});

test('others get a turn while a long text is serialized', async () => {
  let turns = 0;
  let goesOn = true;
  const count = () => {
    turns += 1;
    if (goesOn) setImmediate(count);
  };
  setImmediate(count);
  await stringifyText('\u0001'.repeat(2 ** 20));
  goesOn = false;
  assert.ok(turns >= 7, String(turns));
});
