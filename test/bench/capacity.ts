import type { Figure } from './figures.ts';
import { installTools } from './executions/tools.ts';
import { startLoadProcess } from './executions/load.ts';
import { hello, order } from './executions/plugins.ts';
import { memoryOf, processorTimeOf } from './executions/processes.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
} from './executions/service-process.ts';

/** How long runs are sent, in seconds, and how many of each other operation are done. */
const seconds = 5;
const operations = 60;
const editors = 300;

/**
 * What one core gives, for the arithmetic in docs/service/capacity.md: how often a second one core can do an operation, by the
 * processor time that the service and all its processes use for it. So the figures do not depend on how many cores there are,
 * and little on what else the machine does. The limits are far below: they only show that something broke.
 */
export async function measureCapacity(): Promise<Figure[]> {
  await installTools();
  using data = createDataDirectory();
  await using service = await ServiceProcess.start(data.path);
  const call = async (path: string, token: string, body?: string, type = 'text/plain') => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return text;
  };
  const editorToken = async (path: string) => {
    const text = await call(`/auth/v2/access/${path}`, service.tokenFor(`${environment}.t1`));
    return (JSON.parse(text) as { token: string }).token;
  };

  const figures: Figure[] = [];
  const add = (name: string, limit: number, times: number, milliseconds: number) =>
    figures.push({
      name: `${name}, a second on one core`,
      value: (1000 * times) / milliseconds,
      limit,
      bound: 'at least',
      unit: '/s',
      note: `${(milliseconds / times).toFixed(2)} ms of processor time each`,
    });

  for (const [name, example, limit] of [
    ['runs of "Hello"', hello('hello'), 100],
    ['runs of an order of 300 lines', order(), 20],
  ] as const) {
    using load = startLoadProcess();
    const plugin = { ident: `${environment}.t1`, name: `measured-${limit}`, lang: 'javascript', ...example };
    await service.deploy(plugin);
    const requests = [{ path: executionPath(plugin), body: example.input, expected: example.output }];
    const common = { port: service.port, token: service.tokenFor(plugin.ident), connections: 16, requests };
    await load.send({ ...common, until: { seconds: 1 } });
    const before = processorTimeOf(service.pid);
    const { rate } = await load.send({ ...common, until: { seconds } });
    add(name, limit, rate * seconds, processorTimeOf(service.pid) - before);
  }

  const path = `${environment}.t1/default/written`;
  const token = await editorToken(path);
  /** Does an operation one after the other, having done it some times before. */
  const measure = async (name: string, limit: number, work: (i: number) => Promise<unknown>) => {
    for (let i = 0; i < 10; i++) await work(-1 - i);
    const before = processorTimeOf(service.pid);
    for (let i = 0; i < operations; i++) await work(i);
    add(name, limit, operations, processorTimeOf(service.pid) - before);
  };
  for (const [lang, limit] of [
    ['javascript', 5],
    ['typescript', 2],
    ['assemblyscript', 0.5],
  ] as const) {
    await measure(`builds of ${lang}`, limit, (i) =>
      call(`/api/v1/build/${lang}/${path}`, token, sources[lang](i)),
    );
  }
  await measure('saves of 10 KB', 20, (i) =>
    call(
      `/api/v1/draft/${path}`,
      token,
      JSON.stringify({ lang: 'javascript', contents: `// ${i}\n`.padEnd(10_000, 'x') }),
      'application/json',
    ),
  );

  // What an editor that is opened asks for: a token, the draft and the features.
  const open = async (i: number) => {
    const at = `${environment}.t1/default/editor-${i}`;
    const own = await editorToken(at);
    await call(
      `/api/v1/draft/${at}`,
      own,
      JSON.stringify({ lang: 'javascript', contents: 'x' }),
      'application/json',
    );
    await call(`/api/v1/draft/${at}`, own);
    await call('/api/v1/features', own);
  };
  for (let i = 0; i < 100; i++) await open(-1 - i);
  const { resident } = memoryOf(service.pid);
  const before = processorTimeOf(service.pid);
  for (let i = 0; i < editors; i++) await open(i);
  add('editors opened', 5, editors, processorTimeOf(service.pid) - before);
  const after = memoryOf(service.pid);
  figures.push(
    {
      name: 'memory of a node with its runners and compilers',
      value: after.proportional,
      limit: 2000,
      unit: 'MB',
    },
    {
      name: 'memory for each editor opened',
      value: Math.max(0, after.resident - resident) / editors,
      limit: 1,
      unit: 'MB',
    },
  );
  return figures;
}

/** Programs of a few lines, each of which was never built before. */
const sources: Record<'javascript' | 'typescript' | 'assemblyscript', (i: number) => string> = {
  javascript: (i) => `export function run(input) { return input + "${i}"; }\n`,
  typescript: (i) => `export function run(input: string): string { return input + "${i}"; }\n`,
  assemblyscript: (i) => `export function run(input: string): string { return input + "${i}"; }\n`,
};
