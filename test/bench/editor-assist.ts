import { startEditorService } from '../editor/harness.ts';
import { type LauncherPage, openLauncher } from '../editor/launcher-page.ts';
import { openBrowser } from './browser.ts';
import type { Figure } from './figures.ts';

const LENGTH = 100_000;

/** How much a model says at once, in characters. */
const PART = 100;

const line = 'const total = orders.reduce((sum, { cents }) => sum + cents, 0);\n';
const sentence = 'The sum of all orders is rounded to whole cents, and a customer without orders gets none. ';

/** Answers of 100 KB that a browser lays out in different ways. */
const answers: Readonly<Record<string, string>> = {
  paragraphs: `${sentence.repeat(3)}\n\n`,
  'one paragraph': sentence,
  'one code block': line,
  'short code blocks': `${sentence}\n\n\`\`\`js\n${line.repeat(4)}\`\`\`\n\n`,
  'one word': 'abcdefghij',
};

/** The longest frame while an answer streams into the panel of the assistant, in ms. */
export async function measureAnswers(): Promise<Figure[]> {
  const service = await startEditorService();
  const browser = await openBrowser();
  try {
    const figures: Figure[] = [];
    for (const [kind, text] of Object.entries(answers)) {
      const launcher = await openLauncher(browser, service);
      const start = kind === 'one code block' ? '```js\n' : '';
      const answer = start + text.repeat(Math.ceil(LENGTH / text.length));
      figures.push({
        name: `longest frame while 100 KB of ${kind} stream in`,
        value: await longestFrame(launcher, answer.slice(0, LENGTH)),
        limit: 50,
        unit: 'ms',
        note: '(in Chromium; a shorter one than 50 ms counts as 0)',
      });
      await launcher.close();
    }
    return figures;
  } finally {
    await browser.close();
    await service.close();
  }
}

async function longestFrame(launcher: LauncherPage, answer: string): Promise<number> {
  const { frame, page, open, waitForMessage, sendMessage } = launcher;
  const session = await open({ fn: 'assisted', template: 'javascript' });
  await waitForMessage('ready', session);
  await sendMessage({ type: 'configure', session, assistant: true });
  await frame.locator('#tab-assist').click();
  await frame.locator('.assist textarea').fill('Why?');
  // What loads with the editor is not what is measured.
  await page.waitForNetworkIdle();
  await frame.evaluate(() => {
    const frames: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) frames.push(duration);
    });
    observer.observe({ type: 'long-animation-frame' });
    Object.assign(globalThis, {
      takeFrames: () => [...frames, ...observer.takeRecords().map(({ duration }) => duration)],
    });
  });
  await frame.focus('.assist textarea');
  await page.keyboard.press('Enter');
  const { request } = await waitForMessage('assist', session);
  await page.evaluate(
    async (message, text, size) => {
      const { sendMessage: send } = globalThis as unknown as { sendMessage: (one: object) => void };
      for (let at = 0; at < text.length; at += size) {
        send({ ...message, type: 'assist-part', text: text.slice(at, at + size) });
        // A task for each part, as they come from a network.
        await new Promise((resolve) => setTimeout(resolve));
      }
      send({ ...message, type: 'assist-end' });
    },
    { session, request },
    answer,
    PART,
  );
  await frame.waitForSelector('.assist [role=log][aria-busy=false]');
  // The frame that shows the end is measured, too.
  return frame.evaluate(
    () =>
      new Promise<number>((resolve) => {
        requestAnimationFrame(() =>
          setTimeout(() => {
            const { takeFrames } = globalThis as unknown as { takeFrames: () => number[] };
            resolve(Math.max(0, ...takeFrames()));
          }),
        );
      }),
  );
}
