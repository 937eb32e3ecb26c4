import { writeFile } from 'node:fs/promises';
import { startDemo } from '../demo/harness.ts';
import { openDemo } from '../demo/page-driver.ts';
import { editorIn } from '../editor/harness.ts';
import { launchChromium } from '../support/chromium.ts';
import { savePriceRule } from './price-rule.ts';

// Takes the README's pictures of the running demo: `node tools/run.js packages chromium test/docs/picture.ts`, after a change of its looks.

const SIZE = { width: 1280, height: 800, deviceScaleFactor: 1.25 };

const demo = await startDemo();
const browser = await launchChromium();
try {
  await savePriceRule(demo);
  for (const theme of ['light', 'dark']) {
    const tab = await openDemo(browser, demo.vendor);
    const { page } = tab;
    await page.setViewport(SIZE);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await tab.signIn('ada');
    await tab.choosePlugin('price-rule');
    const frame = await tab.launch();
    const editor = editorIn(frame, page.keyboard);
    await frame.locator('#tab-tests').click();
    await editor.press('Run all');
    await frame.waitForSelector('#tab-tests .count[data-tone=good]');
    const picture = await page.screenshot({ type: 'webp', quality: 55 });
    await writeFile(new URL(`picture-${theme}.webp`, import.meta.url), picture);
    console.log(`picture-${theme}.webp: ${Math.round(picture.length / 1000)} KB`);
    await page.browserContext().close();
  }
} finally {
  await browser.close();
  await demo.stop();
}
