import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeError, decodeFinding } from '../../../service/src/sandbox/decode-report.ts';
import { encodeFrame, FrameReader, partsOfFrame } from '../../../service/src/processes/frames.ts';
import {
  applyDifference,
  blockSize,
  differenceBetween,
  undoDifference,
} from '../../../service/src/sandbox/script/memory-difference.ts';
import { pluginError } from '../../../service/src/sandbox/outcome.ts';
import { decodeJob, decodeText, encodeJob, encodeText } from '../../../service/src/sandbox/protocol.ts';

const texts = [
  '',
  '=',
  '~',
  '~"a"',
  '{"json":1}\n',
  'é😀\0\r\n\u2028',
  '\ufeffmark',
  'half \ud83d and \udc00',
  'x'.repeat(70_000),
];

test('frames are decoded as they were encoded, however their bytes are split', () => {
  const sent = texts.map((text, i) => ({ kind: i + 1, text: encodeText(text) }));
  const bytes = Buffer.concat(sent.map(({ kind, text }) => encodeFrame(kind, text)));
  for (const size of [1, 2, 3, 5, 64, 4096, bytes.length]) {
    const reader = new FrameReader(1_000_000);
    const received = [];
    for (let at = 0; at < bytes.length; at += size)
      received.push(...reader.push(bytes.subarray(at, at + size)));
    assert.deepEqual(received, sent);
  }
});

test('bytes are decoded as they were encoded, however they are split, and keep little else in memory', () => {
  const sent = [0, 3, 70_000, 2_000_000].map((size, i) => Buffer.alloc(size, i + 1));
  const bytes = Buffer.concat(
    sent.flatMap((part) => partsOfFrame(1, [part.subarray(0, 2), part.subarray(2)])),
  );
  for (const size of [1000, 65_536, bytes.length]) {
    const reader = new FrameReader(3_000_000, [1]);
    const received = [];
    for (let at = 0; at < bytes.length; at += size)
      received.push(...reader.push(Buffer.from(bytes.subarray(at, at + size))));
    assert.deepEqual(
      received.map((frame) => frame.bytes),
      sent,
    );
    for (const { bytes: content = Buffer.alloc(0) } of received)
      assert.ok(
        content.buffer.byteLength <= Math.max(Buffer.poolSize, 1.2 * content.length),
        String(content.length),
      );
  }
});

test('a frame over the limit is refused as soon as its length is known', () => {
  const reader = new FrameReader(10);
  assert.deepEqual(reader.push(encodeFrame(1, 'x'.repeat(10))).length, 1);
  assert.throws(() => reader.push(encodeFrame(1, 'x'.repeat(11)).subarray(0, 5)), RangeError);
});

test('every text goes to a runner and back unchanged', () => {
  for (const text of texts) {
    assert.equal(decodeText(encodeText(text)), text);
    const job = {
      hash: 'abc',
      isTyped: false,
      input: text,
      program: { kind: 'script', code: `//\n${text}`, file: 'plugin.js' },
    } as const;
    assert.deepEqual(decodeJob(encodeJob(job)), job);
  }
});

test('an error of a runner is accepted only if it has the right shape', () => {
  const longest = pluginError('x'.repeat(100_000));
  assert.deepEqual(decodeError(JSON.stringify(longest)), longest);
  for (const wrong of [
    'null',
    '{}',
    '{"code":"other","message":""}',
    '{"code":"plugin-error"}',
    '{"code":"__proto__","message":""}',
    JSON.stringify({ code: 'plugin-error', message: 'x'.repeat(10_000) }),
    'no JSON',
  ]) {
    assert.throws(() => decodeError(wrong), wrong);
  }
});

test('what a runner finds in a namespace is accepted only if it has the right shape', () => {
  const violation = { path: '/a', message: 'must be there' };
  for (const finding of [{}, { pattern: 3 }, { value: 0, violation }]) {
    assert.deepEqual(decodeFinding(JSON.stringify(finding)), finding);
  }
  for (const wrong of [
    'null',
    '{"pattern":-1}',
    '{"pattern":0.5}',
    '{"value":"0"}',
    '{"value":0,"violation":null}',
    '{"value":0,"violation":{"path":"","message":1}}',
    JSON.stringify({ value: 0, violation: { ...violation, path: 'x'.repeat(501) } }),
    JSON.stringify({ value: 0, violation: { ...violation, message: 'x'.repeat(10_000) } }),
    'no JSON',
  ]) {
    assert.throws(() => decodeFinding(wrong), wrong);
  }
});

test('a memory is restored from its difference to another', () => {
  const base = new Uint8Array(5 * blockSize).map((_, i) => i % 251);
  const memory = base.slice();
  for (const at of [0, 255, 256, 4095, 65_536, 131_071, 327_679]) memory[at] = 255;
  memory.fill(7, 200_000, 210_000);
  const difference = differenceBetween(base, memory);
  const restored = base.slice();
  applyDifference(restored, difference);
  assert.equal(Buffer.compare(restored, memory), 0);
  undoDifference(restored, difference, base);
  assert.equal(Buffer.compare(restored, base), 0);
  assert.ok(difference.size < 11_000, `${difference.size} bytes`);
  // The range at 200,000 begins within the block at 196,608.
  const { ranges, size } = differenceBetween(base, memory, 3 * blockSize);
  assert.deepEqual([ranges.at(0)?.offset, ranges.at(-1)?.offset, ranges.length], [199_936 + 64, 327_616, 2]);
  assert.ok(size < difference.size);
  const grown = new Uint8Array(7 * blockSize);
  grown.set(memory);
  grown[6 * blockSize + 5] = 1;
  const put = new Uint8Array(7 * blockSize);
  put.set(base);
  applyDifference(put, differenceBetween(base, grown));
  assert.equal(Buffer.compare(put, grown), 0);
  assert.deepEqual(differenceBetween(base, base.slice()), { ranges: [], size: 0 });
  assert.throws(() => differenceBetween(base, memory.subarray(blockSize)), RangeError);
  assert.throws(() => differenceBetween(base, memory, 1), RangeError);
});
