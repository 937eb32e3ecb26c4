import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CHANNEL, LIMITS, VERSION } from '../../src/core/messages.ts';
import { parseEditorMessage } from '../../src/core/parse-editor-message.ts';

const MB = 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use, including those of long texts, which are outside the heap. */
function memoryInUse(): number {
  // V8 frees the memory of buffers on another thread after a collection. The next
  // collection waits for that thread, so only its numbers are those of what is kept.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('a shortened message keeps no memory of the rest', () => {
  const all = { channel: CHANNEL, version: VERSION, session: 's' };
  const before = memoryInUse();
  const kept = Array.from({ length: 50 }, (_, i) => {
    // In one piece, like a text that another window posts.
    const long = Buffer.alloc(4 * MB, `${i} `).toString('latin1');
    return [
      parseEditorMessage({ ...all, type: 'build', succeeded: true, outputLog: long }, 's', []),
      parseEditorMessage({ ...all, type: 'hello', capabilities: [long] }, 's', []),
    ];
  });
  const grown = memoryInUse() - before;
  assert.equal(JSON.stringify(kept).match(/"outputLog"/g)?.length, 50);
  // The messages had 200 MB, of which 50 shortened logs remain.
  assert.ok(grown < 10 * 50 * LIMITS.build.outputLog, `${(grown / MB).toFixed(1)} MB`);
});
