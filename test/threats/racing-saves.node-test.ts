import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer } from '../service/harness.ts';
import { VICTIM, pathOf, startWithPlugins } from './service-plugins.ts';

const RACERS = 20;
const path = pathOf(VICTIM);

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
