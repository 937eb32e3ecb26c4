import * as backEnd from './back-end.ts';
import { change, currentTenant, signedIn, state } from './state.ts';
import type { Data } from './state.ts';

// What the back end knows of the place that is shown, loaded when the place changes and after what changes it.

/** Counts what was asked for: only the latest answer is shown. */
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Runs are recorded within a second of their answer. */
const RECORDED_WITHIN = 1200;

/** Loads what belongs to the place that is shown; what is on the page stays until it is there. */
export function loadData(): Promise<void> {
  clearTimeout(timer);
  const { fn } = state;
  const ident = currentTenant(state)?.ident;
  if (signedIn(state)?.user.isStaff) return show(backEnd.loadCustomers(), ({ customers }) => ({ customers }));
  if (ident === undefined) {
    asked++;
    return Promise.resolve();
  }
  return fn === undefined
    ? show(backEnd.loadOverview(ident), (overview) => ({ overview }))
    : show(backEnd.loadDetails(ident, fn), (details) => ({ details }));
}

/** Loads it once what was run just now is recorded. */
export function loadDataLater(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void loadData(), RECORDED_WITHIN);
}

/** Makes a version of the plugin that is shown live; `null`: the newest, from now on. */
export async function setLive(version: string | null): Promise<void> {
  const { fn } = state;
  const ident = currentTenant(state)?.ident;
  if (ident === undefined || fn === undefined) return;
  await show(backEnd.setLive(ident, fn, version), (details) => ({ details }));
}

export async function setSuspended(ident: string, suspended: boolean): Promise<void> {
  change({ deleting: undefined });
  await show(backEnd.setSuspended(ident, suspended), ({ customers }) => ({ customers }));
}

export async function deleteCustomer(ident: string): Promise<void> {
  change({ deleting: undefined });
  await show(backEnd.deleteCustomer(ident), ({ customers }) => ({ customers }));
}

export async function restoreCustomer(ident: string): Promise<void> {
  await show(backEnd.restoreCustomer(ident), ({ customers }) => ({ customers }));
}

async function show<T>(reading: Promise<backEnd.Read<T>>, toData: (answer: T) => Data): Promise<void> {
  const mine = ++asked;
  const { answer, refusal } = await reading;
  if (mine !== asked) return;
  if (!refusal) {
    change({ data: toData(answer) });
    return;
  }
  change({ data: { ...state.data, problem: refusal.message } });
  if (refusal.code !== 'customer-deleted') return;
  // What the session says is no longer so: the page then shows what is left.
  change({ launched: false });
  await backEnd.loadSession();
}
