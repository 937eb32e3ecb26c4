import type { PluginEditorElement } from 'plugin-editor';
import * as backEnd from './back-end.ts';
import { saveDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import type { Which } from './back-end.ts';
import { loadDataLater } from './data.ts';
import { routeTo } from './route.ts';
import { change, currentTenant, drawn, runInput, state } from './state.ts';

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

/** Back to the plugin: without a plugin the element is idle, its frame gone. */
export function leaveEditor(): void {
  change({ launched: false });
}

// What comes of these two, the element shows and reports itself.

export function reloadEditor(): void {
  void editor()
    ?.reload()
    .catch(() => {});
}

/** Another way to get the token; an editor that is open is loaded anew by it. */
export async function chooseDelivery(delivery: Delivery): Promise<void> {
  saveDelivery(delivery);
  const { launched } = state;
  change({ delivery });
  if (!launched) return;
  await drawn();
  await editor()?.updateComplete;
  reloadEditor();
}

/** The user stays with what is not saved. */
export function stay(): void {
  const { question } = state;
  if (!question) return;
  const { back } = question;
  saveDelivery(back.delivery);
  if (back.ident !== undefined) history.pushState(null, '', routeTo(back.ident, back.fn));
  change({ ...back, question: undefined });
}

/** The user does not wait; what is not saved stays in the browser, as the editor keeps it. */
export function goOn(): void {
  void editor()
    ?.reload({ discard: true })
    .catch(() => {});
}

export function openInNewTab(): void {
  void editor()
    ?.openInNewTab()
    .catch((error: Error) => change({ failure: error.message }));
}

/** The editor goes first: its frame, and with it the token, must not outlive the session. */
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

/** Has the back end run the plugin that is shown: what is live, or the latest versions. */
export async function runPlugin(which: Which): Promise<void> {
  const { fn, runs } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || runs.busy) return;
  const input = runInput(state);
  change({ runs: { ...runs, busy: true, problem: undefined } });
  const { answer, refusal } = await backEnd.run(ident, fn, input, which);
  // Another plugin is shown by now: that has runs of its own.
  if (state.fn !== fn || currentTenant(state)?.ident !== ident) return;
  const { input: typed } = state.runs;
  change({
    runs: refusal
      ? { ...state.runs, busy: false, problem: refusal.message }
      : { busy: false, input: typed, answer, ran: input },
  });
  loadDataLater();
}

/** Has the back end do its work with the plugin that is shown. */
export async function showWork(): Promise<void> {
  const { fn, work } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || work.busy) return;
  change({ work: { ...work, busy: true, problem: undefined } });
  const { answer, refusal } = await backEnd.work(ident, fn);
  // Another plugin is shown by now.
  if (state.fn !== fn || currentTenant(state)?.ident !== ident) return;
  change({ work: refusal ? { ...work, busy: false, problem: refusal.message } : { busy: false, answer } });
  loadDataLater();
}
