import type {
  Customers,
  Overview,
  PluginDetails,
  Refusal,
  Session,
  SignedOut,
  VersionRuns,
  WorkView,
} from '../vendor/wire.ts';
import { change } from './state.ts';

// What the page asks of the vendor's back end. Editor tokens are not among it: the element fetches those.

export async function loadSession(): Promise<void> {
  await ask('GET', '/session');
}

export async function signIn(user: string): Promise<void> {
  await ask('POST', '/session', { user });
}

export async function signOut(): Promise<void> {
  if (await ask('DELETE', '/session')) await loadSession();
}

/** Adds a plugin to a customer's list. False when the name was refused; the page then says why. */
export async function addPlugin(ident: string, name: string): Promise<boolean> {
  change({ nameProblem: undefined });
  return ask('POST', '/plugins', { ident, name }, (message) => change({ nameProblem: message }));
}

/** Which runs are asked for: of the live version, or of the latest versions. */
export type Which = 'live' | 'all';

export const run = (ident: string, name: string, input: string, which: Which) =>
  read<VersionRuns>('POST', '/plugins/runs', { ident, name, input, which });

/** Has the app do its work with the plugin, and shows what came of it. */
export const work = (ident: string, name: string) => read<WorkView>('POST', '/plugins/work', { ident, name });

export const loadOverview = (ident: string) =>
  read<Overview>('GET', `/plugins?${new URLSearchParams({ ident })}`);

export const loadDetails = (ident: string, name: string) =>
  read<PluginDetails>('GET', `/plugins?${new URLSearchParams({ ident, name })}`);

/** Makes a version live; `null`: the newest, from now on. */
export const setLive = (ident: string, name: string, version: string | null) =>
  read<PluginDetails>('PUT', '/plugins/live', { ident, name, version });

export const loadCustomers = () => read<Customers>('GET', '/customers');

export const setSuspended = (ident: string, suspended: boolean) =>
  read<Customers>('PATCH', '/customers', { ident, suspended });

export const deleteCustomer = (ident: string) => read<Customers>('DELETE', '/customers', { ident });

export const restoreCustomer = (ident: string) => read<Customers>('POST', '/customers', { ident });

/** An answer; or, in words, why there is none. */
export type Read<T> = { answer: T; refusal?: undefined } | { answer?: undefined; refusal: Refusal['error'] };

async function read<T extends object>(method: string, path: string, body?: object): Promise<Read<T>> {
  try {
    const answer = (await (await send(method, path, body)).json()) as T | Refusal;
    return 'error' in answer ? { refusal: answer.error } : { answer };
  } catch {
    return { refusal: { code: 'no-answer', message: NO_ANSWER } };
  }
}

const NO_ANSWER = 'Larder’s server does not answer. Is it still running?';

const send = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(path, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

async function ask(
  method: string,
  path: string,
  body?: object,
  refused: (message: string) => void = (message) => change({ failure: message }),
): Promise<boolean> {
  change({ failure: undefined });
  try {
    const response = await send(method, path, body);
    if (!response.ok) refused(((await response.json()) as Refusal).error.message);
    else if (response.status !== 204) change({ session: (await response.json()) as Session | SignedOut });
    return response.ok;
  } catch {
    change({ failure: NO_ANSWER });
    return false;
  }
}
