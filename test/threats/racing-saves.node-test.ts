import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer } from '../service/harness.ts';
import { VICTIM, pathOf, startWithPlugins } from './service-plugins.ts';

const RACERS = 20;
const path = pathOf(VICTIM);

test('of twenty simultaneous saves of one draft, one wins, and each other is told so', async (t) => {
  const { send, editorToken, save } = await startWithPlugins(t);
  const token = await editorToken(VICTIM);
  /** Sends all at once, each over a connection of its own, and tells who won. */
  const race = async (condition: Record<string, string>, round: number) => {
    const responses = await Promise.all(
      Array.from({ length: RACERS }, async (_, racer) => {
        const contents = `// ${round}: ${racer}`;
        return { contents, ...(await save(path, token, contents, condition)) };
      }),
    );
    const won = responses.filter(({ status }) => status === 200);
    const lost = responses.filter(
      ({ status, body }) => status === 412 && body.includes('precondition-failed'),
    );
    assert.deepEqual([won.length, lost.length], [1, RACERS - 1], `round ${round}`);
    const read = await send('GET', `/api/v1/draft/${path}`, bearer(token));
    const [winner] = won;
    assert.equal((JSON.parse(read.body) as { contents: string }).contents, winner?.contents);
    assert.equal(read.headers.etag, winner?.headers.etag);
    // Whoever lost is told what to compare with.
    for (const { headers } of lost) assert.equal(headers.etag, winner?.headers.etag);
    return String(read.headers.etag);
  };
  let etag = await race({ 'if-none-match': '*' }, 0);
  for (let round = 1; round <= 5; round++) {
    const next = await race({ 'if-match': etag }, round);
    assert.notEqual(next, etag);
    etag = next;
  }
});

test('of simultaneous saves and builds of one draft, one wins, and the draft is what it sent', async (t) => {
  const { send, editorToken, save } = await startWithPlugins(t);
  const token = await editorToken(VICTIM);
  const first = await save(path, token, '// first');
  const condition = { 'if-match': String(first.headers.etag) };
  const source = (racer: number) => `export const run = () => "${racer}";\n`;
  const headers = { ...bearer(token), ...condition, 'content-type': 'text/plain' };
  const responses = await Promise.all(
    Array.from({ length: RACERS }, async (_, racer) =>
      racer % 2
        ? { racer, ...(await save(path, token, source(racer), condition)) }
        : { racer, ...(await send('POST', `/api/v1/build/javascript/${path}`, headers, source(racer))) },
    ),
  );
  const read = await send('GET', `/api/v1/draft/${path}`, bearer(token));
  const won = responses.filter(({ status }) => status === 200);
  assert.deepEqual(
    won.map(({ racer }) => source(racer)),
    [(JSON.parse(read.body) as { contents: string }).contents],
  );
  // A tenant's share of builds is limited; what does not fit is refused as a whole.
  for (const { status } of responses) assert.ok([200, 412, 429].includes(status), String(status));
});

test('twenty simultaneous requests for tokens return twenty valid tokens', async (t) => {
  const { send, editorToken } = await startWithPlugins(t);
  const first = await editorToken(VICTIM);
  const tokens = await Promise.all(Array.from({ length: RACERS }, () => editorToken(VICTIM)));
  assert.equal(new Set([first, ...tokens]).size, RACERS + 1);
  const read = await Promise.all(
    [first, ...tokens].map((token) => send('GET', `/api/v1/progress/${path}`, bearer(token))),
  );
  for (const { status } of read) assert.equal(status, 200);
});
