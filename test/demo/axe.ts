import { readFile } from 'node:fs/promises';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * What axe finds in a page; the editor in its frame has tests of its own.
 * @param part a selector of the only part to look at (default: all of the page)
 */
export async function findings(page: Page, part?: string): Promise<string[]> {
  await page.evaluate(axe);
  const context = part === undefined ? 'document' : JSON.stringify(part);
  const { violations } = (await page.evaluate(`axe.run(${context}, { iframes: false })`)) as AxeResults;
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
