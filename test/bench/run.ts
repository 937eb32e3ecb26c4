/**
 * `npm run bench`: prints every figure beside its limit, and exits with 1 when one is missed. Nearly all are ratios to
 * something measured in the same run, so that a slow machine fails no more than a fast one; builds have limits in ms.
 *
 *   npm run bench                              all but `neighbours`, `large`, `records` and `against`, which take long
 *   npm run bench -- size mount                only these
 *   npm run bench -- executions hello order    only these parts of what was named before; `sandbox`, `storage` and `neighbours` have parts, too
 *   npm run bench -- against 02a54cac          the service beside that of a former commit
 */
import { measureAgainst } from './against.ts';
import { measureAppearance } from './appearance.ts';
import { openBrowser } from './browser.ts';
import { measureCapacity } from './capacity.ts';
import { connectionFigures, measureConnections } from './connections.ts';
import { measureDeletion } from './deletion.ts';
import { measureDelivery } from './delivery.ts';
import { measureDeploys } from './deploys.ts';
import { measureAnswers } from './editor-assist.ts';
import { measureEditorLoad } from './editor-load.ts';
import { measureTyping } from './editor-typing.ts';
import { executionFigures, measureExecutions } from './executions.ts';
import { type Figure, print } from './figures.ts';
import { measureLarge } from './large.ts';
import { measureLanguageHelp } from './language-help.ts';
import { measureLayoutShift } from './layout-shift.ts';
import { measureLeaks } from './leaks.ts';
import { measureMount } from './mount.ts';
import { measureNeighbours, neighbourFigures } from './neighbours.ts';
import { startOrigins } from './origins.ts';
import { measurePackage } from './package-sizes.ts';
import { measurePython } from './python.ts';
import { measureRecords } from './records.ts';
import { measureRunsRecorded } from './runs-recorded.ts';
import { measureSandbox, sandboxFigures } from './sandbox.ts';
import { measureService } from './service.ts';
import { measureSizes } from './sizes.ts';
import { measureStorage, storageFigures } from './storage.ts';
import { measureTypedRuns } from './typed-runs.ts';

interface Measure {
  readonly measure: (parts?: readonly string[]) => Promise<Figure[]>;
  /** What can be measured alone. */
  readonly parts?: readonly string[];
  /** Whether it is only measured where it is named. */
  readonly takesLong?: boolean;
}

const measures: Readonly<Record<string, Measure>> = {
  size: { measure: async () => [...(await measureSizes()), ...(await measurePackage())] },
  mount: { measure: measureElements },
  service: { measure: measureService },
  executions: { measure: measureExecutions, parts: executionFigures },
  sandbox: { measure: measureSandbox, parts: sandboxFigures },
  storage: { measure: measureStorage, parts: storageFigures },
  'runs-recorded': { measure: measureRunsRecorded },
  records: { measure: measureRecords, takesLong: true },
  connections: { measure: measureConnections, parts: connectionFigures },
  capacity: { measure: measureCapacity },
  delivery: { measure: () => measureDelivery() },
  deletion: { measure: measureDeletion },
  deploys: { measure: measureDeploys },
  'editor-load': { measure: () => measureEditorLoad() },
  'editor-typing': { measure: measureTyping },
  'editor-assist': { measure: measureAnswers },
  python: { measure: measurePython },
  'typed-runs': { measure: measureTypedRuns },
  'language-help': { measure: measureLanguageHelp },
  neighbours: { measure: measureNeighbours, parts: neighbourFigures, takesLong: true },
  large: { measure: measureLarge, takesLong: true },
};

async function measureElements(): Promise<Figure[]> {
  const origins = await startOrigins();
  const browser = await openBrowser();
  try {
    return [
      await measureMount(browser, origins),
      ...(await measureLeaks(browser, origins)),
      await measureLayoutShift(browser, origins),
      ...(await measureAppearance(browser, origins)),
    ];
  } finally {
    await browser.close();
    await origins.close();
  }
}

/** The measures that were asked for, each with those of its parts that were. */
function readArguments([first, ...others]: string[]): [Measure, string[]][] {
  if (first === undefined) {
    return Object.values(measures).flatMap((one): [Measure, string[]][] =>
      one.takesLong ? [] : [[one, []]],
    );
  }
  if (first === 'against') {
    const [commit] = others;
    if (commit === undefined || others.length > 1) fail('Name one commit after "against".');
    return [[{ measure: () => measureAgainst(commit) }, []]];
  }
  const chosen: [Measure, string[]][] = [];
  for (const name of [first, ...others]) {
    const [last, parts] = chosen.at(-1) ?? [];
    if (last?.parts?.includes(name)) parts?.push(name);
    else if (measures[name]) chosen.push([measures[name], []]);
    else fail(`There is no ${name}. There are: ${Object.keys(measures).join(', ')}, against.`);
  }
  return chosen;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

const figures: Figure[] = [];
for (const [{ measure }, parts] of readArguments(process.argv.slice(2))) {
  figures.push(...(await measure(parts.length ? parts : undefined)));
}
process.exitCode = print(figures) ? 0 : 1;
