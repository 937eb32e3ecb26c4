/**
 * `npm run bench`: prints every figure beside its limit, and exits with 1 when one is missed. Ratios only: each is
 * measured against something in the same run, so that a slow machine fails no more than a fast one.
 */
import { openBrowser } from './browser.ts';
import { measureDelivery } from './delivery.ts';
import type { Figure } from './figures.ts';
import { print } from './figures.ts';
import { measureLayoutShift } from './layout-shift.ts';
import { measureLeaks } from './leaks.ts';
import { measureMount } from './mount.ts';
import { startOrigins } from './origins.ts';
import { measureSizes } from './sizes.ts';

const figures: Figure[] = [...(await measureSizes())];
const origins = await startOrigins();
const browser = await openBrowser();
try {
  figures.push(await measureMount(browser, origins));
  figures.push(...(await measureLeaks(browser, origins)));
  figures.push(await measureLayoutShift(browser, origins));
} finally {
  await browser.close();
  await origins.close();
}
figures.push(...(await measureDelivery()));
process.exitCode = print(figures) ? 0 : 1;
