import { readFile } from 'node:fs/promises';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer-core';

const axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The rules that look at colours: after all rules in light colours, only these can say anything else in dark ones. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** The rules that look at sizes. axe leaves the first of them out unless it is named. */
export const SIZE_RULES = ['target-size', 'scrollable-region-focusable'];

interface Scope {
  /** A selector of the only part to look at (default: all of the page). */
  part?: string;
  /** The only rules to check (default: all). */
  rules?: readonly string[];
}

/** What axe finds in a page or a frame as it is, without the frames in it. */
export async function findings(page: Pick<Page, 'evaluate'>, { part, rules }: Scope = {}): Promise<string[]> {
  // The script has half a megabyte, which goes to a page once.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  const context = part === undefined ? 'document' : JSON.stringify(part);
  const options = { iframes: false, resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const { violations } = (await page.evaluate(
    `axe.run(${context}, ${JSON.stringify(options)})`,
  )) as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Sets the colours, without movement: a colour on its way to another is neither. */
export const useColours = (page: Page, scheme: 'light' | 'dark'): Promise<void> =>
  page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);

/** What axe finds in light and in dark colours; the page has the dark ones afterwards. */
export async function findingsInBoth(page: Page, part?: string): Promise<string[]> {
  const scope = part === undefined ? {} : { part };
  await useColours(page, 'light');
  const light = await findings(page, scope);
  await useColours(page, 'dark');
  const dark = await findings(page, { ...scope, rules: COLOUR_RULES });
  return [...light, ...dark.map((found) => `in dark colours: ${found}`)];
}
