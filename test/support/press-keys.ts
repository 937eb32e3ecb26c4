import type { KeyInput, Page } from 'puppeteer-core';

/** Presses the last key while the others are held. */
export async function pressKeys({ keyboard }: Pick<Page, 'keyboard'>, ...keys: KeyInput[]): Promise<void> {
  const [last, ...held] = keys.toReversed();
  if (!last) return;
  for (const key of held.toReversed()) await keyboard.down(key);
  await keyboard.press(last);
  for (const key of held) await keyboard.up(key);
}
