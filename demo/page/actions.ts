import type { PluginEditorElement, PluginEditorError } from 'plugin-editor';
import * as backEnd from './back-end.ts';
import type { Which } from './back-end.ts';
import { loadData, loadDataLater } from './data.ts';
import { choose } from './preferences.ts';
import type { Delivery } from './preferences.ts';
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
  // There is no preview while the editor is open, and the author may have deployed meanwhile.
  void loadData();
}

/** Loads the editor anew. Where that fails the editor stays as it is, so the page says why. */
export async function reloadEditor(): Promise<void> {
  change({ failure: undefined });
  try {
    await editor()?.reload();
  } catch (error) {
    const { code, message } = error as PluginEditorError;
    const reason =
      code === 'token-unauthorized'
        ? 'You are signed out, or may no longer open this plugin. Sign in again in another tab to go on here'
        : message;
    change({ failure: `The editor was not loaded anew, and stays as it is. ${reason}.` });
  }
}

/** Chooses how the editor gets its token. An editor that is open is loaded anew. */
export async function chooseDelivery(delivery: Delivery): Promise<void> {
  choose({ delivery });
  if (!state.launched) return;
  await whenDrawn();
  await editor()?.updateComplete;
  await reloadEditor();
}

/** The user stays with the plugin that is not saved. */
export function stay(): void {
  const { question } = state;
  if (!question) return;
  const { back } = question;
  choose({ delivery: back.delivery });
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
  const { fn, runs, visit } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || runs.busy) return;
  const input = runInput(state);
  change({ runs: { ...runs, busy: true, problem: undefined } });
  const { body, refusal } = await backEnd.run(ident, fn, input, which);
  if (state.visit !== visit) return;
  const { input: typed } = state.runs;
  change({
    runs: refusal
      ? { ...state.runs, busy: false, problem: refusal.message }
      : { busy: false, input: typed, result: body, ran: input },
  });
  loadDataLater();
}
