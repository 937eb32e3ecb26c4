import { setTimeout } from 'node:timers/promises';

import type { WebDriverSession } from './webdriver.ts';

// The code points that WebDriver has for the keys that puppeteer calls by these names.
const KEYS: Record<string, string> = {
  Backspace: '\uE003',
  Tab: '\uE004',
  Enter: '\uE007',
  Shift: '\uE008',
  Control: '\uE009',
  Alt: '\uE00A',
  Escape: '\uE00C',
  Space: ' ',
  PageUp: '\uE00E',
  PageDown: '\uE00F',
  End: '\uE010',
  Home: '\uE011',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
  Insert: '\uE016',
  Delete: '\uE017',
  Meta: '\uE03D',
};
const BUTTONS = { left: 0, middle: 1, right: 2 };
type Button = keyof typeof BUTTONS;
interface ButtonOptions {
  button?: Button;
}

interface Size {
  width: number;
  height: number;
}

/** How long a window may take to get another size, in ms: a page waits only 20 s for a command. */
const RESIZE_TIME = 15_000;

/** The height that the tool bar of MiniBrowser adds to the page, in px. */
const TOOL_BAR_HEIGHT = 38;

/**
 * A WebDriver session in the shape of puppeteer's `Page`, as far as the test runner's commands use it:
 * `sendKeys`, `sendMouse`, `resetMouse` and `setViewport` work in WebKit as in the other engines.
 */
export function webDriverPage(session: WebDriverSession) {
  const keys = (...actions: object[]) =>
    session.post('/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
  const mouse = (...actions: object[]) =>
    session.post('/actions', {
      actions: [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions }],
    });

  return {
    keyboard: {
      type: (text: string) => keys(...Array.from(text).flatMap((key) => [keyDown(key), keyUp(key)])),
      press: (key: string) => keys(keyDown(key), keyUp(key)),
      down: (key: string) => keys(keyDown(key)),
      up: (key: string) => keys(keyUp(key)),
    },
    mouse: {
      move: (x: number, y: number) => mouse(moveTo(x, y)),
      click: (x: number, y: number, options?: ButtonOptions) =>
        mouse(moveTo(x, y), buttonDown(options), buttonUp(options)),
      down: (options?: ButtonOptions) => mouse(buttonDown(options)),
      up: (options?: ButtonOptions) => mouse(buttonUp(options)),
      reset: async () => {
        await mouse(buttonUp(), buttonUp({ button: 'middle' }), buttonUp({ button: 'right' }));
        await mouse(moveTo(0, 0));
      },
    },
    setViewport: async ({ width, height }: { width: number; height: number }) => {
      const windowSize = { width, height: height + TOOL_BAR_HEIGHT };
      let rect = (await session.post('/window/rect', windowSize)) as Size;
      const fits = () => rect.width === windowSize.width && rect.height === windowSize.height;
      // WebKit answers after 200 ms, whether the X server has resized the window by then or not.
      for (const deadline = performance.now() + RESIZE_TIME; !fits() && performance.now() < deadline;) {
        await setTimeout(20);
        rect = (await session.get('/window/rect')) as Size;
      }
      if (!fits()) {
        const smallest = `${rect.width} by ${rect.height - TOOL_BAR_HEIGHT}`;
        throw new Error(
          `WebKit's viewport became ${smallest}, not ${width} by ${height} (447 is the least width)`,
        );
      }
    },
    emulateMediaFeatures: () => {
      throw new Error('WebKit cannot emulate media features: test this in Chromium or Firefox.');
    },
    select: () => {
      throw new Error('selectOption is not there in WebKit: focus the element and use sendKeys.');
    },
  };
}

function keyDown(key: string): object {
  return { type: 'keyDown', value: keyValue(key) };
}

function keyUp(key: string): object {
  return { type: 'keyUp', value: keyValue(key) };
}

function moveTo(x: number, y: number): object {
  return { type: 'pointerMove', x, y, duration: 0, origin: 'viewport' };
}

function buttonDown({ button = 'left' }: ButtonOptions = {}): object {
  return { type: 'pointerDown', button: BUTTONS[button] };
}

function buttonUp({ button = 'left' }: ButtonOptions = {}): object {
  return { type: 'pointerUp', button: BUTTONS[button] };
}

function keyValue(key: string): string {
  const value = KEYS[key] ?? key;
  if (Array.from(value).length > 1)
    throw new Error(`No WebDriver key is known for "${key}": add it to webdriver-page.ts`);
  return value;
}
