import type { Load, LoadResult } from './load.ts';
import { autocannon } from './tools.ts';

/*
 * The process that `load.ts` starts. It uses autocannon because its own cost is the least: about 12 µs of processor
 * time for a request, against 16 with undici's `dispatch` and 23 with its `request`, where `workerd` needs about 50.
 * The two cores are shared with what is measured. Its statistics are not used: their resolution is 1 ms.
 */
const cannon = autocannon();

process.on('message', (load: Load) => {
  void send(load).then((result) => process.send?.(result));
});

async function send({ port, token, connections, requests, until }: Load): Promise<LoadResult> {
  if (connections > 1 && requests.length > 1) {
    throw new Error('Several connections can only send one and the same request.');
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  const addFailure = (what: string) => (failures[what] = (failures[what] ?? 0) + 1);
  const start = performance.now();
  const deadline = 'seconds' in until ? start + until.seconds * 1000 : Infinity;
  let end = start;
  let responses = 0;
  let status = 0;
  const run = cannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    ...('seconds' in until ? { duration: until.seconds } : { amount: until.responses }),
    // Longer than any answer takes that still comes.
    timeout: 120,
    sampleInt: 100,
    requests: requests.map(({ path, body }) => ({ method: 'POST', path, headers, body })),
    verifyBody: (body) => {
      const { expected } = requests[responses++ % requests.length] ?? {};
      if (status === 200 && body !== expected) addFailure('wrong body');
      return true;
    },
  });
  run.on('response', (_client, code, _bytes, ms) => {
    status = code;
    const now = performance.now();
    // It goes on for a moment after its time is over.
    if (now > deadline) return;
    end = now;
    if (code === 200) latencies.push(ms);
    else addFailure(`status ${code}`);
  });
  run.on('reqError', (error) => addFailure(error.message));
  await run;
  const seconds = 'seconds' in until ? until.seconds : (end - start) / 1000;
  return { latencies: Float64Array.from(latencies), rate: latencies.length / seconds, failures };
}
