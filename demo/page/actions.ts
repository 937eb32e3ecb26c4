import type { PluginEditorElement } from 'plugin-editor';
import * as backEnd from './back-end.ts';
import { saveDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import type { Which } from './back-end.ts';
import { loadDataLater } from './data.ts';
import { routeTo } from './route.ts';
import { change, currentTenant, whenDrawn, runInput, state } from './state.ts';

// What the page's buttons do.

const editor = (): PluginEditorElement | null => document.querySelector('plugin-editor');

/** Goes to a place in the app, as a link would. */
export function go(ident: string, fn?: string, launched = false): void {
  history.pushState(null, '', routeTo(ident, fn));
  change({ ident, fn, launched });
}

export function launch(): void {
  change({ launched: true });
}

/** Goes back to the plugin's page. Without a plugin the element is idle and has no frame. */
export function leaveEditor(): void {
  change({ launched: false });
}

/** Loads the editor anew. The element itself shows and reports a failure. */
export function reloadEditor(): void {
  void editor()
    ?.reload()
    .catch(() => {});
}

/** Chooses how the editor gets its token. An editor that is open is loaded anew. */
export async function chooseDelivery(delivery: Delivery): Promise<void> {
  saveDelivery(delivery);
  const { launched } = state;
  change({ delivery });
  if (!launched) return;
  await whenDrawn();
  await editor()?.updateComplete;
  reloadEditor();
}

/** The user stays with the plugin that is not saved. */
export function stay(): void {
  const { question } = state;
  if (!question) return;
  const { back } = question;
  saveDelivery(back.delivery);
  if (back.ident !== undefined) history.pushState(null, '', routeTo(back.ident, back.fn));
  change({ ...back, question: undefined });
}

/** The user does not wait for the save. The editor keeps a copy of what is not saved in the browser. */
export function continueWithoutSaving(): void {
  void editor()
    ?.reload({ discard: true })
    .catch(() => {});
}

export function openInNewTab(): void {
  void editor()
    ?.openInNewTab()
    .catch((error: Error) => change({ failure: error.message }));
}

/** Closes the editor before it signs out, because the frame and its token must not be there any longer than the user. */
export async function signOut(): Promise<void> {
  await editor()?.close();
  change({ launched: false });
  await backEnd.signOut();
}

export async function addPlugin(ident: string, form: HTMLFormElement): Promise<void> {
  const name = (new FormData(form).get('name') as string).trim();
  if (!(await backEnd.addPlugin(ident, name))) return;
  form.reset();
  go(ident, name);
}

export async function copySource(source: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(source);
    change({ copied: source });
  } catch {
    change({ failure: 'The browser did not let the page copy. Select the text and copy it by hand.' });
  }
}

/** Has the back end run the plugin that is shown: the live version, or the latest versions. */
export async function runPlugin(which: Which): Promise<void> {
  const { fn, runs } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || runs.busy) return;
  const input = runInput(state);
  change({ runs: { ...runs, busy: true, problem: undefined } });
  const { body, refusal } = await backEnd.run(ident, fn, input, which);
  // The user has gone to another plugin meanwhile.
  if (state.fn !== fn || currentTenant(state)?.ident !== ident) return;
  const { input: typed } = state.runs;
  change({
    runs: refusal
      ? { ...state.runs, busy: false, problem: refusal.message }
      : { busy: false, input: typed, result: body, ran: input },
  });
  loadDataLater();
}

/** Has the back end run the plugin with its own data, and shows what that does in the app. */
export async function showWork(): Promise<void> {
  const { fn, work } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || work.busy) return;
  change({ work: { ...work, busy: true, problem: undefined } });
  const { body, refusal } = await backEnd.work(ident, fn);
  // The user has gone to another plugin meanwhile.
  if (state.fn !== fn || currentTenant(state)?.ident !== ident) return;
  change({
    work: refusal ? { ...work, busy: false, problem: refusal.message } : { busy: false, result: body },
  });
  loadDataLater();
}
