import { EditorApp } from './app.ts';
import { byId } from '../ui/dom.ts';
import type { Opened } from './address.ts';
import type { LauncherLink } from './launcher-link.ts';

/** Starts the editor on this page with what its address, or the page around it, asked for. */
export function start(
  { target, tokenRefused, problem }: Opened,
  builders: readonly string[],
  launcher: LauncherLink,
): void {
  const app = new EditorApp({ root: byId('app'), builders });
  listen(app);
  if (launcher.start(app)) return;
  if (problem) {
    app.showMessage({ title: 'The plugin cannot be opened', text: `${problem}.` });
  } else if (tokenRefused) {
    app.showMessage({
      title: 'Open the plugin from its app',
      text: 'This editor cannot be opened by a link that holds a token. Go to the app that the plugin belongs to, and open it there.',
      plugin: target,
    });
  } else if (target) {
    app.showMessage({
      title: 'Open the editor again',
      text: 'The editor was opened without a token; open it again from the page you came from.',
      plugin: target,
    });
  } else if (window.parent !== window) {
    // The page around it may still ask for one.
    app.closePlugin();
  } else {
    app.showMessage({
      title: 'No plugin to open',
      text: 'This is the plugin editor. An app opens it with the address of a plugin; by itself it has nothing to show.',
    });
  }
}

function listen(app: EditorApp): void {
  // Before the text's own keys, some of which are the same.
  addEventListener('keydown', (event) => app.workspace?.onKey(event), { capture: true });
  addEventListener('beforeunload', (event) => {
    if (app.workspace?.unsaved) event.preventDefault();
  });
  // The last event that a page is sure to get: a phone may end it without another.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') app.workspace?.leaving();
    else app.workspace?.resume();
  });
  addEventListener('pagehide', () => app.workspace?.leaving());
  addEventListener('online', () => app.workspace?.resume());
}
