import assert from 'node:assert/strict';
import { test } from 'node:test';
import { running, startPlugin } from './plugin.ts';

const text = { 'content-type': 'text/plain' };

test('a streamed build sends its log as it goes and one result', async (t) => {
  const { send, paths, editor } = await startPlugin(t);
  for (const [source, succeeded] of [
    [running('return "";'), true],
    ['let =\n;', false],
  ] as const) {
    const headers = { ...editor, ...text, accept: 'application/json;q=0.5, text/event-stream' };
    const {
      status,
      headers: answered,
      body,
    } = await send('POST', paths.build('javascript'), headers, source);
    assert.deepEqual([status, answered['content-type']], [200, 'text/event-stream; charset=utf-8']);
    assert.ok(body.endsWith('\n\n'));
    const events = body
      .trimEnd()
      .split('\n\n')
      .map((one) => /^event: (\w+)\ndata: (.*)$/.exec(one)?.slice(1) ?? []);
    assert.deepEqual(
      events.map(([type]) => type === 'log'),
      [...events.slice(1).map(() => true), false],
    );
    const result = JSON.parse(events.at(-1)?.[1] ?? '') as { succeeded: boolean; outputLog: string };
    assert.equal(events.at(-1)?.[0], 'result');
    assert.equal(result.succeeded, succeeded);
    assert.equal(
      result.outputLog,
      events
        .slice(0, -1)
        .map(([, line]) => line)
        .join('\n'),
    );
  }
  const plain = await send(
    'POST',
    paths.build('javascript'),
    { ...editor, ...text, accept: 'text/event-stream;q=0' },
    '',
  );
  assert.match(plain.headers['content-type'] ?? '', /json/);
});

test('a log event comes before the build is over', async (t) => {
  const { port, paths, editor } = await startPlugin(t);
  const answer = await fetch(`http://127.0.0.1:${port}${paths.build('typescript')}`, {
    method: 'POST',
    headers: { ...editor, ...text, accept: 'text/event-stream' },
    body: 'export const run = (input: string) => input;',
  });
  const parts: string[] = [];
  for await (const part of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()))
    parts.push(part);
  assert.match(parts[0] ?? '', /^event: log\n/);
  assert.doesNotMatch(parts[0] ?? '', /event: result/);
  assert.match(parts.join(''), /event: result\ndata: \{"succeeded":true/);
});
