import 'plugin-editor';
import { render } from 'lit';
import * as backEnd from './page/back-end.ts';
import { loadData } from './page/data.ts';
import { recordEvents } from './page/event-log.ts';
import { readRoute } from './page/route.ts';
import {
  change,
  currentTenant,
  NO_DATA,
  NO_RUNS,
  NO_WORK,
  onChange,
  signedInAccount,
  state,
} from './page/state.ts';
import type { State } from './page/state.ts';
import { recordOpeningTimes } from './page/opening-times.ts';
import { restorePreferences } from './page/preferences.ts';
import { guardUnsavedWork } from './page/unsaved-work.ts';
import { followWebhooks } from './page/webhooks.ts';
import { appView } from './page/views/app.ts';

// The vendor's page: uses both elements as any page would, by their attributes, methods and events.

const root = document.querySelector<HTMLElement>('#app');
if (!root) throw new Error('The page has no #app.');

/** The view and the plugin that were drawn last, as texts to compare. */
let drawnView: string | undefined;
let drawnPlugin: string | undefined;

onChange(() => {
  const account = signedInAccount(state);
  const shown = JSON.stringify([currentTenant(state)?.ident, state.fn, account?.user.name]);
  if (drawnPlugin !== shown) {
    drawnPlugin = shown;
    Object.assign(state, { runs: NO_RUNS, work: NO_WORK, data: NO_DATA, deleting: undefined });
    state.visit++;
    void loadData();
  }
  render(appView(state), root);
  const before = drawnView;
  drawnView = viewOf(state);
  document.title = [...(state.fn === undefined ? [] : [state.fn]), 'Larder'].join(' – ');
  // The element that had the focus may no longer be shown, so the focus goes to the heading of the new view.
  if (before !== undefined && before !== drawnView && !isFocusVisible()) {
    root.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }
});
recordEvents(document);
recordOpeningTimes(document);
guardUnsavedWork(document);
followWebhooks();
// Both change what is live; and an editor may fail to open because its customer was suspended.
for (const type of ['plugin-editor-deploy', 'plugin-editor-live', 'plugin-editor-error'])
  document.addEventListener(type, () => void loadData());

addEventListener('hashchange', () => {
  const route = readRoute(location.hash);
  // Going through a customer's plugins keeps the editor open; anything else leaves it.
  change({ ...route, launched: state.launched && route.ident === state.ident && route.fn !== undefined });
});

restorePreferences();
change(readRoute(location.hash));
await backEnd.loadAccount();

/** Identifies the view that is shown; `undefined` before there is one. */
function viewOf({ account, ident, fn, launched }: State): string | undefined {
  return account && JSON.stringify([!!signedInAccount(state), ident, fn, launched]);
}

function isFocusVisible(): boolean {
  const focused = document.activeElement;
  return !!focused && focused !== document.body && focused.checkVisibility();
}
