import { setLocale, texts } from '../locales/locale.ts';
import type { Opened } from './address.ts';
import { EditorApp } from './app.ts';
import type { LauncherLink } from './launcher-link.ts';

/** Starts the editor on this page with what its address, or the page around it, asked for. */
export async function start(
  { target, tokenRefused, problem }: Opened,
  builders: readonly string[],
  launcher: LauncherLink,
): Promise<void> {
  const root = document.getElementById('app');
  if (!root) throw new Error('The page has no #app');
  // Texts that come late would change before the user's eyes.
  await setLocale(launcher.locale);
  const app = new EditorApp({ root, builders });
  listen(app);
  if (launcher.start(app)) return;
  if (problem) {
    app.showMessage(() => ({ title: texts().app.cannotOpen, text: `${problem}.` }));
  } else if (tokenRefused) {
    app.showMessage(() => ({ ...texts().app.openFromApp, plugin: target }));
  } else if (target) {
    app.showMessage(() => ({ ...texts().app.openAgain, plugin: target }));
  } else if (window.parent !== window) {
    // The page around it may still ask for one.
    app.closePlugin();
  } else {
    app.showMessage(() => texts().app.nothing);
  }
}

function listen(app: EditorApp): void {
  // Before the text's own keys, some of which are the same.
  addEventListener('keydown', (event) => app.workspace?.handleKey(event), { capture: true });
  addEventListener('beforeunload', (event) => {
    if (app.workspace?.unsaved) event.preventDefault();
  });
  // The last event that a page is sure to get: a phone may end it without another.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') app.workspace?.prepareToLeave();
    else app.workspace?.resume();
  });
  addEventListener('pagehide', () => app.workspace?.prepareToLeave());
  addEventListener('online', () => app.workspace?.resume());
}
