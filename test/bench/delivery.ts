import { writeFile } from 'node:fs/promises';
import { type Contexts, openContexts } from './delivery-browser.ts';
import { drawChart } from './delivery-chart.ts';
import type { Times } from './delivery-page.ts';
import { type World, startWorlds } from './delivery-world.ts';
import type { WayName } from './delivery-ways.ts';
import { type Figure, median } from './figures.ts';

const ROUND_TRIPS = [80, 150];
const CHART = new URL('delivery.svg', import.meta.url);

/** Said with the figures, as they mean little without it. */
const SIMULATION = `Time to a usable editor, from the click to when the draft can be edited, in ms
  Network: TLS 1.3 and HTTP/1.1 to two origins of different sites on loopback, each behind a TCP proxy that holds every
  chunk back for half a round trip each way, and a new connection for a whole one, as long as TCP's handshake takes.
  Bandwidth is not limited, nothing is lost, names take no time, and servers answer at once. Every run has a new browser
  context, so that nothing is cached; the order alternates; the first round does not count.
  Connections to the page's own server: for a first opening they were closed while the page stood idle, so the token
  request makes a new one; for "open", "preload" and "kept" they are still there.
  The editor is the same page in every way; as documented, it greets from a script within its page.`;

/** A way in a page whose connections to its own server are `closed` or `kept` at the time of the click. */
interface Course {
  way: WayName;
  connections: 'closed' | 'kept';
  /** Afterwards the plugin is changed. */
  change?: boolean;
}

const COURSES = {
  raw: { way: 'raw', connections: 'closed' },
  message: { way: 'message', connections: 'closed', change: true },
  superset: { way: 'superset', connections: 'closed' },
  url: { way: 'url', connections: 'closed' },
  fetchThenSrc: { way: 'fetchThenSrc', connections: 'closed' },
  preload: { way: 'preload', connections: 'kept' },
  messageKept: { way: 'message', connections: 'kept' },
  fetchThenSrcKept: { way: 'fetchThenSrc', connections: 'kept' },
} as const satisfies Record<string, Course>;

type CourseName = keyof typeof COURSES;

const NAMES = {
  raw: 'raw frame, token known',
  message: 'message',
  superset: '@superset-ui/embedded-sdk',
  url: 'url',
  fetchThenSrc: 'fetch, then src',
  open: 'change of plugin by open',
  preload: 'opening after preload',
  messageKept: 'message, connection kept',
  fetchThenSrcKept: 'fetch, then src, connection kept',
} as const;

type Measured = keyof typeof NAMES;

/** Those with a limit, each against another. */
const RATIOS: [Measured, Measured, number][] = [
  ['message', 'raw', 1.05],
  ['message', 'fetchThenSrc', 0.75],
  ['message', 'superset', 1],
  ['url', 'fetchThenSrc', 1.05],
  ['open', 'raw', 0.45],
  ['preload', 'raw', 0.45],
];

const CHARTED: Measured[] = ['raw', 'message', 'superset', 'url', 'fetchThenSrc', 'open', 'preload'];
const OURS: Measured[] = ['message', 'url', 'open', 'preload'];

type Results = Record<Measured, Times[]>;
type Medians = Record<Measured, Times>;

/**
 * Measures the time from the click to a usable editor, in every way to embed one and at every distance, prints it, and
 * draws the chart.
 */
export async function measureDelivery(rounds = 15): Promise<Figure[]> {
  const { worlds, trust, token } = await startWorlds(ROUND_TRIPS);
  let medians: Medians[];
  try {
    const contexts = await openContexts(trust);
    try {
      medians = (await runRounds(contexts, worlds, token, rounds)).map(mediansOf);
    } finally {
      await contexts.close();
    }
  } finally {
    await Promise.all(worlds.map((world) => world.close()));
  }
  printTimes(medians, rounds);
  await writeFile(CHART, chartOf(medians, rounds));
  return figuresOf(medians);
}

/** Every course once in each world and round; the answer is by world. */
async function runRounds(
  contexts: Contexts,
  worlds: World[],
  token: string,
  rounds: number,
): Promise<Results[]> {
  const results = worlds.map(noResults);
  const names = Object.keys(COURSES) as CourseName[];
  for (let round = -1; round < rounds; round++) {
    // The round before the first warms the browser and the servers up.
    const into = round < 0 ? worlds.map(noResults) : results;
    // Each comes at every place in turn, and before its neighbour as often as after it.
    const shift = Math.max(0, round) % names.length;
    const turned = [...names.slice(shift), ...names.slice(0, shift)];
    for (const name of round % 2 ? turned.toReversed() : turned) {
      for (const [i, world] of worlds.entries()) {
        await run(contexts, world, name, token, into[i] as Results);
      }
    }
  }
  return results;
}

const noResults = () =>
  Object.fromEntries(Object.keys(NAMES).map((name) => [name, []])) as unknown as Results;

/** One course in a new context. */
async function run(
  contexts: Contexts,
  world: World,
  name: CourseName,
  token: string,
  into: Results,
): Promise<void> {
  const { way, connections, change }: Course = COURSES[name];
  const id = crypto.randomUUID();
  const query = new URLSearchParams({ id, way, editor: world.editor, token, ...(change && { change: '' }) });
  const reported = world.report(id);
  const context = await contexts.open(`${world.page}/${connections}/?${query.toString()}`);
  const times = await reported;
  await context.close();
  into[name].push(times.first);
  if (times.change) into.open.push(times.change);
}

const mediansOf = (results: Results) =>
  Object.fromEntries(
    Object.entries(results).map(([name, times]) => {
      const middle = (part: keyof Times) => median(times.map((one) => one[part]));
      return [
        name,
        { begun: middle('begun'), tokenReceived: middle('tokenReceived'), usable: middle('usable') },
      ];
    }),
  ) as Medians;

const formatMs = (ms: number) => ms.toFixed(0).padStart(7);

function printTimes(medians: Medians[], rounds: number): void {
  console.log(`\n${SIMULATION}`);
  for (const [i, times] of medians.entries()) {
    console.log(
      `\n  Round trips of ${ROUND_TRIPS[i]} ms, medians of ${rounds}`.padEnd(45) + 'frame  token usable',
    );
    for (const [name, { begun, tokenReceived, usable }] of Object.entries(times)) {
      // A frame that was there before the click has no start to tell.
      const start = begun < 0 ? '      -' : formatMs(begun);
      console.log(
        `  ${NAMES[name as Measured].padEnd(34)} ${start}${formatMs(tokenReceived)}${formatMs(usable)}`,
      );
    }
    const { messageKept, fetchThenSrcKept } = times;
    const ratio = messageKept.usable / fetchThenSrcKept.usable;
    console.log(
      `  With the connection kept, message ÷ fetch, then src is ${ratio.toFixed(2)}; no limit is set.`,
    );
  }
}

const figuresOf = (medians: Medians[]): Figure[] =>
  medians.flatMap((times, i) =>
    RATIOS.map(([way, against, limit]) => ({
      name: `${NAMES[way]} ÷ ${NAMES[against]}, ${ROUND_TRIPS[i]} ms`,
      value: times[way].usable / times[against].usable,
      limit,
      unit: '×',
      note: `${times[way].usable.toFixed(0)} ms, ${times[against].usable.toFixed(0)} ms`,
    })),
  );

const chartOf = (medians: Medians[], rounds: number): string =>
  drawChart({
    title: 'Time to a usable editor',
    notes: [
      `Medians of ${rounds} in Chromium over TLS, with simulated round trips, each in a fresh browser context; less is better.`,
      'First openings: the connections to the page’s own server were closed while it stood idle; for open and preload they are kept.',
      'The dashed line is what a frame takes whose token is known beforehand. Blue: <plugin-editor>.',
    ],
    panels: medians.map((times, i) => ({
      heading: `Round trips of ${ROUND_TRIPS[i]} ms`,
      bars: CHARTED.map((name) => ({
        name: NAMES[name],
        ms: times[name].usable,
        ours: OURS.includes(name),
      })),
    })),
  });
