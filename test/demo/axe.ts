import { readFile } from 'node:fs/promises';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * What axe finds in a page; the editor in its frame has tests of its own.
 * @param part a selector of the only part to look at (default: all of the page)
 * @param rules the only rules to check (default: all)
 */
export async function findings(page: Page, part?: string, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`window.axe ?? (() => { ${axe} })()`);
  const context = part === undefined ? 'document' : JSON.stringify(part);
  const options = { iframes: false, ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(
    `axe.run(${context}, ${JSON.stringify(options)})`,
  )) as AxeResults;
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
