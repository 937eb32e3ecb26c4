import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from '../../support/until.ts';
import { pressKeys } from '../../support/press-keys.ts';
import type { EditorPage } from '../harness.ts';
import { type EditorFixture, editorFixture } from '../editor-fixture.ts';
import { javascript, openText, putCursor, untilHelped, untilShown } from './typing.ts';

/** Opens the text with its help loaded. */
async function openHelped(context: EditorFixture): Promise<EditorPage> {
  const editor = await openText(context, javascript);
  await untilHelped(context, editor);
  return editor;
}

/**
 * Responds to requests for completions in the service's place: with the completion that `complete` returns, or with 422 where it
 * returns none. Both functions get the text and how often it was sent so far. Returns these numbers by text.
 */
function scriptCompletions(
  { service }: EditorFixture,
  complete: (text: string, tries: number) => string | undefined,
  hold?: (text: string, tries: number, request: Request) => Promise<void> | undefined,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const responses = new Map<Request, Response>();
  service.script.hold = async (request) => {
    if (!request.url.includes('/language-help/')) return;
    const body = (await request.clone().json()) as { contents: string; request: { method: string } };
    if (body.request.method !== 'textDocument/completion') return;
    const tries = (counts.get(body.contents) ?? 0) + 1;
    counts.set(body.contents, tries);
    const label = complete(body.contents, tries);
    const help = { result: { isIncomplete: false, items: [{ label }] } };
    responses.set(request, label ? Response.json(help) : new Response(null, { status: 422 }));
    await hold?.(body.contents, tries, request);
  };
  service.script.respond = (request) => responses.get(request);
  return counts;
}

describe('completions that the service fails to give at first', () => {
  const withEditor = editorFixture();

  test('asks once more for completions where the service was too slow, and shows them without another key', () =>
    withEditor(async (context) => {
      const { page } = await openHelped(context);
      const completions = scriptCompletions(context, (text, tries) => {
        if (tries === 1) return undefined;
        return text.includes('Mreturn') ? 'Mathematics' : 'offerOfService';
      });

      // Where no names of the text can be, there is no list before.
      await putCursor(page, 'input;', 5);
      await page.keyboard.type('.');
      await untilShown(page, '.cm-tooltip-autocomplete', 'offerOfService');
      assert.deepEqual([...completions.values()], [2]);
      await pressKeys(page, 'Escape');

      // Elsewhere the names of the text are shown first, if any begins like the word.
      await putCursor(page, 'return', 0);
      await page.keyboard.type('M');
      await untilShown(page, '.cm-tooltip-autocomplete', 'Mathematics');
      assert.deepEqual([...completions.values()], [2, 2]);
      await pressKeys(page, 'Escape');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('o');
      await untilShown(page, '.cm-tooltip-autocomplete', 'offerOfService');
      assert.deepEqual([...completions.values()], [2, 2, 2]);
    }));

  test('shows the names of the text on a device that is too slow to parse it at each key', () =>
    withEditor(async (context) => {
      const { page } = await openHelped(context);
      scriptCompletions(context, () => undefined);
      // The time that the editor gives the parser for the text with the new key passes before the parser has begun.
      await page.evaluate(() => {
        const { now } = Date;
        let ahead = 0;
        addEventListener('keydown', () => (Date.now = () => now() + (ahead += 50)), true);
        addEventListener('input', () => setTimeout(() => (Date.now = now)), true);
      });
      await putCursor(page, 'return', 0);
      await page.keyboard.type('o');
      await untilShown(page, '.cm-tooltip-autocomplete', 'orders');
    }));

  test('asks again at the next key while the names of the text are shown because completions are late', () =>
    withEditor(async (context) => {
      const { page } = await openHelped(context);
      let release = () => {};
      const isReleased = new Promise<void>((resolve) => (release = resolve));
      const completions = scriptCompletions(
        context,
        (text) => (text.includes('orreturn') ? 'ordinary' : undefined),
        (_, tries) => (tries === 2 ? isReleased : undefined),
      );
      await putCursor(page, 'return', 0);
      await page.keyboard.type('o');
      await untilShown(page, '.cm-tooltip-autocomplete', 'orders');
      await page.keyboard.type('r');
      await untilShown(page, '.cm-tooltip-autocomplete', 'ordinary');
      assert.deepEqual([...completions.values()], [2, 1]);
      release();
    }));

  test('withdraws the second request for completions when the list is closed, and opens none then', () =>
    withEditor(async (context) => {
      const { page } = await openHelped(context);
      let isWithdrawn = false;
      const completions = scriptCompletions(
        context,
        () => undefined,
        (_, tries, { signal }) =>
          tries === 2
            ? new Promise((resolve) =>
                signal.addEventListener('abort', () => {
                  isWithdrawn = true;
                  resolve();
                }),
              )
            : undefined,
      );
      await putCursor(page, 'return', 0);
      await page.keyboard.type('o');
      await untilShown(page, '.cm-tooltip-autocomplete', 'orders');
      await until('the second request', () => [...completions.values()].includes(2));
      await page.keyboard.press('Escape');
      await until('the withdrawal', () => isWithdrawn);
      assert.equal(await page.$('.cm-tooltip-autocomplete'), null);
    }));

  test('asks but once for completions after it has asked twice in vain', () =>
    withEditor(async (context) => {
      const { page } = await openHelped(context);
      const completions = scriptCompletions(context, () => undefined);
      let failures = 0;
      page.on('response', (response) => {
        if (response.status() === 422) failures++;
      });
      // A key before the second failure would withdraw the second request, so that it would not count.
      const untilAllFailed = () =>
        until(
          'the failures',
          () => failures === [...completions.values()].reduce((sum, tries) => sum + tries),
        );
      await putCursor(page, 'return', 0);
      await page.keyboard.type('q');
      await until('the second request', () => [...completions.values()].includes(2));
      const isAskedTwice = async (key: string) => {
        await untilAllFailed();
        const before = completions.size;
        await page.keyboard.type(key);
        await until('the request', () => completions.size > before);
        await untilAllFailed();
        // A second request would follow at once.
        await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1000)));
        return [...completions.values()].at(-1) === 2;
      };
      // The page may handle the first of these keys before the second failure.
      assert.equal((await isAskedTwice('u')) && (await isAskedTwice('i')), false);
    }));
});
