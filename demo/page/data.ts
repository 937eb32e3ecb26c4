import * as backEnd from './back-end.ts';
import { change, currentTenant, shownPlugin, signedInAccount, state } from './state.ts';
import type { Data } from './state.ts';

// What the back end knows of the customer and the plugin that are shown. It is loaded when another one is shown, and after
// each change; with it comes the preview of what is live.

/** Counts the requests: only the response to the latest one is shown. */
let requests = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** How long it takes until the service has recorded a run, in ms: a record is promised within a second. */
const RECORDED_WITHIN = 1200;

/** Loads what is known of the customer or the plugin that is shown. The page keeps what it shows until then. */
export async function loadData(): Promise<void> {
  clearTimeout(timer);
  const { fn } = state;
  const ident = currentTenant(state)?.ident;
  if (signedInAccount(state)?.user.isStaff) {
    await show(backEnd.loadCustomers(), ({ customers, entries }) => ({ customers, entries }));
  } else if (ident === undefined) {
    // Nothing is known of this; what was requested before belongs elsewhere.
    requests++;
  } else if (fn === undefined) {
    await show(backEnd.loadOverview(ident), (overview) => ({ overview }));
  } else {
    await show(backEnd.loadDetails(ident, fn), (details) => ({ details }));
    await updatePreview();
  }
}

/** Loads the data again once the run that just ended is recorded. */
export function loadDataLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void loadData(), RECORDED_WITHIN);
}

/** Makes a version of the plugin that is shown live; `null`: the newest, from now on. */
export async function setLive(version: string | null): Promise<void> {
  const { fn } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined) return;
  await showChange(backEnd.setLive(ident, fn, version), (details) => ({ details }));
  await updatePreview();
}

/** Makes the preview again if another version is live than the one that it shows. */
async function updatePreview(): Promise<void> {
  const { details } = state.data;
  if (!details || details.suspended || !shownPlugin(state)?.view) return;
  if (!signedInAccount(state)?.user.mayDeploy || state.launched) return;
  if (state.work.result?.live !== details.live) await showWork();
}

/** Has the back end run the live version with the app's own data, and shows what that does in the app. */
export async function showWork(): Promise<void> {
  const { fn, work, visit } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined || work.busy) return;
  change({ work: { ...work, busy: true, problem: undefined } });
  const { body, refusal } = await backEnd.work(ident, fn);
  if (state.visit !== visit) return;
  change({
    work: refusal ? { ...work, busy: false, problem: refusal.message } : { busy: false, result: body },
  });
  if (body?.live) loadDataLater();
}

export async function setSuspended(ident: string, suspended: boolean): Promise<void> {
  change({ deleting: undefined });
  await showChange(backEnd.setSuspended(ident, suspended), ({ customers, entries }) => ({
    customers,
    entries,
  }));
}

export async function deleteCustomer(ident: string): Promise<void> {
  change({ deleting: undefined });
  await showChange(backEnd.deleteCustomer(ident), ({ customers, entries }) => ({ customers, entries }));
}

export async function restoreCustomer(ident: string): Promise<void> {
  await showChange(backEnd.restoreCustomer(ident), ({ customers, entries }) => ({ customers, entries }));
}

/**
 * Shows what is true after a change, or why it was refused. A request that began meanwhile may have the data from before, so they are
 * loaded once more.
 */
async function showChange<T>(result: Promise<backEnd.Result<T>>, toData: (body: T) => Data): Promise<void> {
  const { visit } = state;
  if (await show(result, toData)) return;
  await loadData();
  const { refusal } = await result;
  if (refusal && state.visit === visit) change({ data: { ...state.data, problem: refusal.message } });
}

/** False if a later request has taken its place. */
async function show<T>(result: Promise<backEnd.Result<T>>, toData: (body: T) => Data): Promise<boolean> {
  const request = ++requests;
  const { body, refusal } = await result;
  if (request !== requests) return false;
  if (!refusal) {
    change({ data: toData(body) });
    return true;
  }
  change({ data: { ...state.data, problem: refusal.message } });
  if (refusal.code === 'customer-deleted') {
    // The account is loaded anew, because it no longer has that customer.
    change({ launched: false });
    await backEnd.loadAccount();
  }
  return true;
}
