import 'plugin-editor';
import { render } from 'lit';
import * as backEnd from './page/back-end.ts';
import { loadData } from './page/data.ts';
import { savedDelivery } from './page/delivery.ts';
import { recordEvents } from './page/event-log.ts';
import { readRoute } from './page/route.ts';
import { change, currentTenant, NO_DATA, NO_RUNS, NO_WORK, onChange, signedIn, state } from './page/state.ts';
import type { State } from './page/state.ts';
import { takeTimes } from './page/stopwatch.ts';
import { applyLook, savedLook } from './page/look.ts';
import { applyTheme, savedTheme } from './page/theme.ts';
import { guardWork } from './page/unsaved-work.ts';
import { appView } from './page/views/app.ts';

// The vendor's page: uses both elements as any page would, by their attributes, methods and events.

const root = document.querySelector<HTMLElement>('#app');
if (!root) throw new Error('The page has no #app.');

let place: string | undefined;
let plugin: string | undefined;

onChange(() => {
  const who = signedIn(state);
  const shown = JSON.stringify([currentTenant(state)?.ident, state.fn, who?.user.name]);
  if (plugin !== shown) {
    plugin = shown;
    // Each plugin has runs and versions of its own.
    Object.assign(state, { runs: NO_RUNS, work: NO_WORK, data: NO_DATA, deleting: undefined });
    if (who) void loadData();
  }
  render(appView(state), root);
  const before = place;
  place = placeOf(state);
  document.title = [...(state.fn === undefined ? [] : [state.fn]), 'Larder'].join(' – ');
  // What had the focus may have gone with the place: on to where the new one begins.
  if (before !== undefined && before !== place && !focusIsSeen()) {
    root.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }
});
recordEvents(document);
takeTimes(document);
guardWork(document);
// What is live may have changed; an editor that could not be opened may be that of a customer that is suspended.
for (const type of ['plugin-editor-deploy', 'plugin-editor-error'])
  document.addEventListener(type, () => void loadData());
const theme = savedTheme();
applyTheme(theme);
const look = savedLook();
applyLook(look);

addEventListener('hashchange', () => {
  const route = readRoute(location.hash);
  // Going through a customer's plugins keeps the editor open; anything else leaves it.
  change({ ...route, launched: state.launched && route.ident === state.ident && route.fn !== undefined });
});

change({ theme, look, delivery: savedDelivery(), ...readRoute(location.hash) });
await backEnd.loadSession();

/** Which view is shown; nothing before there is one. */
function placeOf({ session, ident, fn, launched }: State): string | undefined {
  return session && JSON.stringify([!!signedIn(state), ident, fn, launched]);
}

function focusIsSeen(): boolean {
  const focused = document.activeElement;
  return !!focused && focused !== document.body && focused.checkVisibility();
}
