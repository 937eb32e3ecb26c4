/** The vendor's page: does what its address says, and reports how long it took. */
import '../../src/plugin-editor.ts';
import type { Failed, Usable } from './delivery-editor.ts';
import { FIRST_FN, type WayOptions, WAYS, type WayName, change } from './delivery-ways.ts';

/** From the click, in ms. */
export interface Times {
  /** To the start of the frame's navigation; negative when it was there before. */
  begun: number;
  /** Until the editor had its token. */
  tokenReceived: number;
  /** Until it could be used. */
  usable: number;
}

export interface Report {
  id: string;
  first: Times;
  /** The change to another plugin after it. */
  change?: Times;
  error?: string;
}

const query = Object.fromEntries(new URLSearchParams(location.search));
const { id = '', way = 'raw' } = query;

/** From when a page is quiet to the click, in ms: the browser still starts its processes. */
const SETTLE = 300;

const quiet = async () => {
  await new Promise((resolve) => setTimeout(resolve, SETTLE));
  await new Promise((resolve) => requestIdleCallback(resolve));
};

async function time(act: () => unknown, fn: string): Promise<Times> {
  await quiet();
  const usableMessage = new Promise<Usable>((resolve, reject) => {
    const handleMessage = ({ data }: MessageEvent<Usable | Failed>) => {
      if (data?.bench === 'failed') reject(new Error(data.error));
      if (data?.bench !== 'usable' || data.fn !== fn) return;
      removeEventListener('message', handleMessage);
      resolve(data);
    };
    addEventListener('message', handleMessage);
  });
  const click = performance.timeOrigin + performance.now();
  act();
  const { begun, tokenReceived, usable } = await usableMessage;
  return { begun: begun - click, tokenReceived: tokenReceived - click, usable: usable - click };
}

async function run(): Promise<Omit<Report, 'id'>> {
  if (document.visibilityState !== 'visible') throw new Error('The page is not shown');
  const click = await WAYS[way as WayName](query as unknown as WayOptions);
  const first = await time(click, FIRST_FN);
  if (!('change' in query)) return { first };
  return { first, change: await time(change, 'delete-record') };
}

const report = await run().catch((error: unknown) => ({ error: String(error) }));
await fetch('/report', { method: 'POST', body: JSON.stringify({ id, ...report }) });
