import type { Frame } from 'puppeteer-core';

/**
 * Runs a function in a frame; resolves with `undefined` when the page of the frame has gone: it loads another one, or was taken
 * out, as the editor is when there is an error. The failure may come before the news of the frame's end, so `detached` cannot
 * be asked; and for a frame that has gone it is thrown at the call.
 */
export async function readFrame<T>(frame: Frame, read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await frame.evaluate(read);
  } catch (error) {
    const { message } = error as Error;
    if (/context was destroyed|cannot find context|detached|(?:session|target) closed/i.test(message)) {
      return undefined;
    }
    throw error;
  }
}
