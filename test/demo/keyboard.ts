import assert from 'node:assert/strict';
import type { Frame, JSHandle, KeyInput, Page } from 'puppeteer-core';
import { until } from '../support/until.ts';

/** What has the focus: its role and name as one would tell somebody of it, and whether that can be seen. */
export interface Focused {
  name: string;
  /** It is the text of the editor, in which Tab indents. */
  text: boolean;
  seen: boolean;
}

/** A user without a mouse. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** One key, with the keys that are held while it is pressed. */
  async press(key: KeyInput, ...held: KeyInput[]): Promise<void> {
    for (const one of held) await this.#page.keyboard.down(one);
    await this.#page.keyboard.press(key);
    for (const one of held.toReversed()) await this.#page.keyboard.up(one);
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text);
  }

  /** Goes on by Tab until something of this name has the focus; every stop on the way must be seen. */
  async tabTo(name: RegExp, back = false): Promise<void> {
    const passed: string[] = [];
    for (let step = 0; step < 60; step++) {
      const now = await this.focused();
      if (name.test(now.name)) return;
      // The documented way out of the text.
      if (now.text) await this.press('Escape');
      await this.press('Tab', ...(back ? (['Shift'] as const) : []));
      let next = await this.focused();
      // The editor draws its caret a moment after it got the focus. Past the last stop the browser itself has its turn.
      await until('visible focus', async () => (next = await this.focused()).seen || !next.name).catch(() =>
        assert.fail(`the focus on "${next.name}" is not to be seen`),
      );
      passed.push(next.name);
    }
    assert.fail(`Tab does not lead to ${name}, but to ${passed.join(', ')}`);
  }

  async focused(): Promise<Focused> {
    let frame: Frame = this.#page.mainFrame();
    for (;;) {
      const active: JSHandle<Element | null> = await frame.evaluateHandle(() => {
        let found = document.activeElement;
        while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
        return found;
      });
      const inner = await active.asElement()?.contentFrame();
      if (!inner) return await active.evaluate(describe);
      frame = inner;
    }
  }
}

/** Runs in the page. */
function describe(active: Element | null): Focused {
  if (!active || active === document.body) return { name: '', text: false, seen: false };
  const text = active.matches('.cm-content');
  const label =
    active.getAttribute('aria-label') ??
    (active as HTMLInputElement).labels?.[0]?.textContent ??
    (active.hasAttribute('aria-labelledby')
      ? document.getElementById(active.getAttribute('aria-labelledby') ?? '')?.textContent
      : active.textContent);
  const { top, bottom, left, right } = active.getBoundingClientRect();
  const inView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  // A hidden radio button is shown by its label's words, or by what holds it.
  const shownBy = [active, active.nextElementSibling, active.parentElement, active.closest('.cm-editor')];
  const outlined = shownBy.some((one) => {
    if (!one) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;
  });
  const caret = text && !!document.querySelector('.cm-focused .cm-cursor');
  const name = `${active.localName} ${text ? 'Source' : (label ?? '').replaceAll(/\s+/g, ' ').trim()}`;
  return { name, text, seen: inView && (outlined || caret) };
}
