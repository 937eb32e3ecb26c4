/**
 * `npm run bench`: prints every figure beside its limit, and exits with 1 when one is missed. Nearly all are ratios to
 * something measured in the same run, so that a slow machine fails no more than a fast one; builds have limits in ms.
 * Names narrow it down: `node test/bench/run.ts size mount service executions storage delivery capacity editor-load
 * editor-typing deletion runs-recorded language-help typed-runs`, and one figure of the executions and of the storage is measured
 * alone by its own: `node test/bench/run.ts executions:hello`. With `--large` it measures a service with very many customers, which
 * takes long and is no part of the others.
 */
import { measureAppearance } from './appearance.ts';
import { openBrowser } from './browser.ts';
import { measureCapacity } from './capacity.ts';
import { measureDeletion } from './deletion.ts';
import { measureDelivery } from './delivery.ts';
import { measureEditorLoad } from './editor-load.ts';
import { measureTyping } from './editor-typing.ts';
import { executionFigures, measureExecutions } from './executions.ts';
import type { Figure } from './figures.ts';
import { print } from './figures.ts';
import { measureLarge } from './large.ts';
import { measureLanguageHelp } from './language-help.ts';
import { measureLayoutShift } from './layout-shift.ts';
import { measureLeaks } from './leaks.ts';
import { measureMount } from './mount.ts';
import { startOrigins } from './origins.ts';
import { measurePackage } from './package-sizes.ts';
import { measureRunsRecorded } from './runs-recorded.ts';
import { measureService } from './service.ts';
import { measureSizes } from './sizes.ts';
import { measureStorage, storageFigures } from './storage.ts';
import { measureTypedRuns } from './typed-runs.ts';

const names = [
  'size',
  'mount',
  'service',
  'executions',
  'storage',
  'delivery',
  'capacity',
  'editor-load',
  'editor-typing',
  'runs-recorded',
  'deletion',
  'language-help',
  'typed-runs',
];
const single = [
  ...executionFigures.map((name) => `executions:${name}`),
  ...storageFigures.map((name) => `storage:${name}`),
];
// What takes long is measured by itself, where it is asked for.
const isLarge = process.argv.includes('--large');
const selected = process.argv.slice(2).filter((name) => name !== '--large');
const unknown = selected.filter((name) => ![...names, ...single].includes(name));
if (unknown.length) {
  console.error(`There is no ${unknown.join(', ')}; there are ${[...names, ...single].join(', ')}.`);
  process.exit(1);
}
const wants = (name: string) => (!selected.length && !isLarge) || selected.includes(name);
const figures: Figure[] = [];

if (wants('size')) {
  figures.push(...(await measureSizes()));
  figures.push(...(await measurePackage()));
}
if (wants('mount')) {
  const origins = await startOrigins();
  const browser = await openBrowser();
  try {
    figures.push(await measureMount(browser, origins));
    figures.push(...(await measureLeaks(browser, origins)));
    figures.push(await measureLayoutShift(browser, origins));
    figures.push(...(await measureAppearance(browser, origins)));
  } finally {
    await browser.close();
    await origins.close();
  }
}
if (wants('service')) figures.push(...(await measureService()));
if (wants('executions')) figures.push(...(await measureExecutions()));
else {
  const chosen = executionFigures.filter((name) => selected.includes(`executions:${name}`));
  if (chosen.length) figures.push(...(await measureExecutions(chosen)));
}
if (wants('storage')) figures.push(...(await measureStorage()));
else {
  const chosen = storageFigures.filter((name) => selected.includes(`storage:${name}`));
  if (chosen.length) figures.push(...(await measureStorage(chosen)));
}
if (isLarge) figures.push(...(await measureLarge()));
if (wants('runs-recorded')) figures.push(...(await measureRunsRecorded()));
if (wants('capacity')) figures.push(...(await measureCapacity()));
if (wants('delivery')) figures.push(...(await measureDelivery()));
if (wants('deletion')) figures.push(...(await measureDeletion()));
if (wants('editor-load')) figures.push(...(await measureEditorLoad()));
if (wants('editor-typing')) figures.push(...(await measureTyping()));
if (wants('typed-runs')) figures.push(...(await measureTypedRuns()));
if (wants('language-help')) figures.push(...(await measureLanguageHelp()));
process.exitCode = print(figures) ? 0 : 1;
