import type { Notices } from './notices.ts';

/** How often a part is asked for, and how long before it is asked for again, in ms; each time longer by as much. */
const MAX_TRIES = 5;
const PAUSE = 400;

/**
 * Loads a part of the editor that was not loaded with the page. While a service is upgraded, a node that has another version
 * of the editor answers that there is no such file, and the next one has it; so it is asked for more than once.
 * @throws what the last `load` threw
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let tries = 1; ; tries++) {
    try {
      return await load();
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * tries));
    }
  }
}

/** Loads a part that the user asked for. Where it cannot be had, a notice says so, and the answer is `undefined`. */
export async function loadPartOrNotify<Part>(
  notices: Notices,
  load: () => Promise<Part>,
): Promise<Part | undefined> {
  notices.hide(NOTICE);
  try {
    return await loadPart(load);
  } catch {
    notices.show(NOTICE, {
      tone: 'alert',
      text: 'This part of the editor could not be loaded. Check your connection and try again. If that does not help, the service may have been upgraded: once your work is saved, open the editor again.',
      actions: [{ label: 'Dismiss', run: () => notices.hide(NOTICE) }],
    });
    return undefined;
  }
}

const NOTICE = 'part';
