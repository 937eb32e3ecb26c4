import type { Page } from 'puppeteer-core';
import { type EditorPage } from '../harness.ts';
import type { EditorFixture } from '../editor-fixture.ts';
import { eventually } from '../../support/until.ts';

/** Opens a plugin in JavaScript with this text. */
export async function openText(
  { service, target, open }: EditorFixture,
  contents: string,
  lang = 'javascript',
): Promise<EditorPage> {
  await service.save({ contents, lang }, target);
  const editor = await open();
  await editor.untilOpen();
  await editor.untilStatus('All changes saved');
  return editor;
}

/** Waits until language help is in the text: it asks the service to get ready as soon as it is. */
export async function untilRequested({ service, target }: Pick<EditorFixture, 'service' | 'target'>) {
  const isOne = ({ path }: { path: string }) =>
    path.includes('/language-help/') && path.endsWith(`/${target.fn}`);
  await eventually(
    () => service.seen.some(isOne),
    (has) => has,
  );
}

/** Presses a first key, which loads the help, and waits for it: without it the text's own words complete what is typed. */
export async function untilHelped(fixture: EditorFixture, { page }: EditorPage): Promise<void> {
  await page.focus('.cm-content');
  await page.keyboard.press('ArrowRight');
  await untilRequested(fixture);
}

/**
 * Puts the cursor within a word of the text, or behind it, and waits until the status line says that it is there: the editor
 * takes a selection over after the browser has told of it, and what it draws meanwhile puts the former one back.
 */
export async function putCursor(page: Page, word: string, at: number): Promise<void> {
  await page.focus('.cm-content');
  await page.waitForFunction(
    (text, offset) => {
      for (const [i, line] of [...document.querySelectorAll('.cm-line')].entries()) {
        const found = line.textContent.indexOf(text);
        if (found < 0) continue;
        const place = `Line ${i + 1}, column ${found + offset + 1}`;
        if (document.querySelector('.cursor')?.textContent?.includes(place)) return true;
        let left = found + offset;
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const length = node.nodeValue?.length ?? 0;
          if (left <= length) {
            getSelection()?.collapse(node, left);
            return false;
          }
          left -= length;
        }
      }
      return false;
    },
    {},
    word,
    at,
  );
}

/** Waits until the text of the editor matches. */
export const untilText = (editor: EditorPage, has: RegExp) =>
  eventually(
    () => editor.text(),
    (text) => has.test(text),
  );

/** Waits until an element shows this text, by default for as long as pages are waited for. */
export const untilShown = (page: Page, selector: string, has: string, timeout?: number) =>
  page.waitForFunction(
    (query, text) => document.querySelector<HTMLElement>(query)?.innerText.includes(text),
    { polling: 50, ...(timeout !== undefined && { timeout }) },
    selector,
    has,
  );

/** The plugin that most tests of typing begin with. */
export const javascript =
  'export function run(input) {\n  const orders = [1, 2];\n  return String(orders.length) + input;\n}\n';
