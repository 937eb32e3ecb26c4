import { type Figure, median } from '../figures.ts';
import { startLoadProcess } from './load.ts';
import { hello } from './plugins.ts';
import {
  createDataDirectory,
  environment,
  executionPath,
  ServiceProcess,
  unlimitedRequests,
} from './service-process.ts';

const pluginCount = 200;
/** Calls of each plugin: the first, and those that are warm. */
const callsEach = 6;

/** What the first run of a plugin takes, against the runs that follow, in a process that has never seen it. */
export async function measureFirstRuns(): Promise<Figure> {
  using data = createDataDirectory();
  using load = startLoadProcess();
  const examples = Array.from({ length: pluginCount }, (_, i) => ({
    ident: `${environment}.t${i % 10}`,
    name: `plugin-${i}`,
    lang: 'javascript',
    ...hello(`plugin-${i}`),
  }));
  const [known, ...plugins] = examples;
  if (!known) throw new Error('There is no plugin to measure.');
  {
    // The process that builds a plugin may know it afterwards.
    await using builder = await ServiceProcess.start(data.path, unlimitedRequests);
    await builder.deployAll(examples);
  }
  await using service = await ServiceProcess.start(data.path);
  const toRequest = (plugin: typeof known) => ({
    path: executionPath(plugin),
    body: plugin.input,
    expected: plugin.output,
  });
  const common = { port: service.port, token: service.tokenFor(known.ident), connections: 1 };
  // The process itself is warm.
  await load.send({ ...common, requests: [toRequest(known)], until: { responses: 1000 } });
  const requests = plugins.flatMap((plugin) => Array.from({ length: callsEach }, () => toRequest(plugin)));
  const { latencies } = await load.send({ ...common, requests, until: { responses: requests.length } });
  const first = median([...latencies].filter((_, i) => i % callsEach === 0));
  const warm = median([...latencies].filter((_, i) => i % callsEach !== 0));
  return {
    name: 'first run of a plugin, against a warm one',
    value: first / warm,
    limit: 10,
    unit: '×',
    note: `${first.toFixed(2)} ms against ${warm.toFixed(2)} ms`,
  };
}
