import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Browser } from 'puppeteer-core';
import { buildEditorUrl } from 'plugin-editor/client.js';
import { openBrowser } from './browser.ts';
import { bundle } from './bundle.ts';
import type { Place, Way } from './editor-load-page.ts';
import type { World, WorldData } from './editor-load-world.ts';
import { type Figure, median } from './figures.ts';

const LINE = { roundTrip: 400, bandwidth: 1_000_000 };

/** In ms. */
const LIMIT = 3500;

/** Said with the figures, as they mean little without it. */
const SIMULATION = `First load of the service's own editor, from the click to when its draft can be edited, in ms
  Network: plain HTTP/1.1, as the service serves it, to two sites on loopback behind one line of 1 Mbit/s each way and round
  trips of 400 ms; TCP's handshake and slow start are imitated, nothing is lost, and names take no time. Every run has a
  new browser context, so that nothing is cached. The page around the editor is there before the click, and so is its
  connection for the token request.`;

const WAYS: readonly Way[] = ['editor address', 'element, message', 'element, url'];

/** One request of the editor's page, in ms from the click. */
interface Loaded {
  name: string;
  asked: number;
  first: number;
  end: number;
  bytes: number;
}

interface Load {
  usable: number;
  requests: Loaded[];
}

/** Measures how long a user on a slow line waits for the editor, each way by turns, and prints what was loaded when. */
export async function measureEditorLoad(rounds = 5): Promise<Figure[]> {
  const { world, close } = await startWorld();
  const { hostname, port } = new URL(world.service);
  try {
    const browser = await openBrowser(
      `--host-resolver-rules=MAP ${hostname}:${port} 127.0.0.1:${world.linePort}`,
    );
    const loads = new Map<Way, Load[]>(WAYS.map((way) => [way, []]));
    try {
      // The round before the first warms the browser and the servers up.
      for (let round = -1; round < rounds; round++) {
        for (const way of WAYS) {
          const load = await measureLoad(browser, world, way);
          if (round >= 0) loads.get(way)?.push(load);
        }
      }
    } finally {
      await browser.close();
    }
    console.log(`\n${SIMULATION}`);
    return [...loads].map(([way, all]) => {
      const times = all.map(({ usable }) => usable);
      const value = Math.round(median(times));
      printRequests(way, all.find(({ usable }) => Math.round(usable) === value) ?? all[0]);
      const note = `${rounds} rounds, ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`;
      return {
        name: `first load of the editor on a slow line, ${way}`,
        value,
        limit: LIMIT,
        unit: 'ms',
        note,
      };
    });
  } finally {
    await close();
  }
}

async function startWorld(): Promise<{ world: World; close: () => Promise<unknown> }> {
  const workerData: WorldData = { line: LINE, pageScript: await bundle('test/bench/editor-load-page.ts') };
  const worker = new Worker(new URL('editor-load-world.ts', import.meta.url), { workerData });
  const [world] = (await once(worker, 'message')) as [World];
  return {
    world,
    close: async () => {
      const ended = once(worker, 'exit');
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      worker.postMessage('close');
      await ended;
    },
  };
}

async function measureLoad(browser: Browser, world: World, way: Way): Promise<Load> {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    await page.goto(world.page, { waitUntil: 'load' });
    await page.waitForFunction(() => 'click' in window);
    const builder = world.service;
    const editorUrl = `${builder}/editor/`;
    const target = { ident: 'com.acme.t1', namespace: 'default', fn: 'add-record' };
    const address = buildEditorUrl({ editorUrl, builder, ...target, token: world.token });
    const place: Place = { address, editorUrl, builder };
    const clicked = await page.evaluate((one, where) => window.click(one, where), way, place);
    const frame = await page.waitForFrame((one) => one.url().startsWith(editorUrl));
    const usable = await frame.waitForFunction(
      (line) => {
        const text = document.querySelector('.cm-content[contenteditable=true]');
        return text?.textContent?.includes(line) && performance.timeOrigin + performance.now();
      },
      { polling: 'mutation', timeout: 60_000 },
      world.firstLine,
    );
    const requests = await frame.evaluate(() =>
      (['navigation', 'resource'] as const).flatMap((type) =>
        (performance.getEntriesByType(type) as PerformanceResourceTiming[]).map((one) => ({
          name: new URL(one.name).pathname,
          asked: performance.timeOrigin + one.requestStart,
          first: performance.timeOrigin + one.responseStart,
          end: performance.timeOrigin + one.responseEnd,
          bytes: one.transferSize,
        })),
      ),
    );
    return {
      usable: Number(await usable.jsonValue()) - clicked,
      requests: requests.map((one) => ({
        ...one,
        asked: one.asked - clicked,
        first: one.first - clicked,
        end: one.end - clicked,
      })),
    };
  } finally {
    await context.close();
  }
}

function printRequests(way: Way, load: Load | undefined): void {
  console.log(`\n  ${way}`.padEnd(48) + '  asked   first     end   bytes');
  for (const { name, asked, first, end, bytes } of load?.requests ?? []) {
    const numbers = [asked, first, end, bytes].map((value) => value.toFixed(0).padStart(8));
    console.log(`    ${name.padEnd(42)} ${numbers.join('')}`);
  }
}
