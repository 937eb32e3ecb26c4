import { texts } from '../locales/locale.ts';
import { loadPart } from './load-part.ts';
import type { Notices } from './notices.ts';

const NOTICE = 'part';

/** Loads a part that the user asked for. Where it cannot be loaded, shows a notice, and resolves with `undefined`. */
export const loadPartOrNotify = <Part>(
  notices: Notices,
  load: () => Promise<Part>,
): Promise<Part | undefined> => notifyIfMissing(notices, loadPart(load));

/**
 * Waits for what needs a part that the user asked for. Where it rejects because the part cannot be loaded, shows a notice, and
 * resolves with `undefined`.
 */
export async function notifyIfMissing<T>(notices: Notices, work: Promise<T>): Promise<T | undefined> {
  notices.hide(NOTICE);
  try {
    return await work;
  } catch {
    notices.show(NOTICE, () => ({
      tone: 'alert',
      text: texts().app.partMissing,
      actions: [notices.dismiss(NOTICE)],
    }));
    return undefined;
  }
}
