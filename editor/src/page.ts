import { setLocale, texts } from './locales/locale.ts';
import { addressRequest, builders, launcher } from './main.ts';
import { EditorApp } from './shell/app.ts';
import { unusableFieldText } from './shell/message-view.ts';
import { loadModule } from './ui/lazy-module.ts';

// The third script of the page, after loader.ts and main.ts. The editor itself comes with it.
void start();

/** Starts the editor with the plugin that the page's address or the page around it asks for. */
async function start(): Promise<void> {
  const { target, tokenRefused, problem } = addressRequest;
  const root = document.getElementById('app');
  if (!root) throw new Error('The page has no #app');
  // The first view is drawn in its language; otherwise its texts would change before the user's eyes.
  await setLocale(launcher.locale, loadModule);
  const app = new EditorApp({ root, builders });
  listen(app);
  if (launcher.start(app)) return;
  if (problem) {
    app.showMessage(() => unusableFieldText(problem));
  } else if (tokenRefused) {
    app.showMessage(() => ({ ...texts().app.openFromApp, plugin: target }));
  } else if (target) {
    app.showMessage(() => ({ ...texts().app.openAgain, plugin: target }));
  } else if (window.parent !== window) {
    // The page around the editor may still ask for a plugin.
    app.closePlugin();
  } else {
    app.showMessage(() => texts().app.nothing);
  }
}

function listen(app: EditorApp): void {
  // Captured, because the text's own keys would otherwise win.
  addEventListener('keydown', (event) => app.workspace?.handleKey(event), { capture: true });
  addEventListener('beforeunload', (event) => {
    if (app.workspace?.saving.isUnsaved) event.preventDefault();
  });
  // A phone may end a hidden page without any further event.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') app.workspace?.saving.prepareToLeave();
    else app.workspace?.resume();
  });
  // Of two windows beside each other both stay visible.
  addEventListener('focus', () => void app.workspace?.serviceState.reload());
  addEventListener('pagehide', () => app.workspace?.saving.prepareToLeave(true));
  // The browser may say so too early, so what failed for lack of a connection waits for the service's answer.
  addEventListener('online', () => app.workspace?.resume());
}
