import type {
  CustomerList,
  Overview,
  PluginDetails,
  Refusal,
  SignedIn,
  SignedOut,
  VersionRuns,
  WebhookMessages,
  WorkView,
} from '../vendor/wire.ts';
import { change, signedInAccount, state } from './state.ts';

// The requests of the page to the vendor's back end. The element itself requests editor tokens.

export async function loadAccount(): Promise<void> {
  await requestAccount('GET', '/session');
}

let isSigningIn = false;

/** Does nothing while another user signs in, whose cookie the browser would keep or not, by which response comes last. */
export async function signIn(user: string): Promise<void> {
  if (isSigningIn) return;
  isSigningIn = true;
  await requestAccount('POST', '/session', { user });
  isSigningIn = false;
}

/** Shows no account while it signs out, so that no timer requests that user's data and is refused. */
export async function signOut(): Promise<void> {
  const { account } = state;
  change({ account: undefined });
  if (await requestAccount('DELETE', '/session')) await loadAccount();
  else change({ account });
}

/** Adds a plugin to a customer's list. False when the name was refused; the page then says why. */
export async function addPlugin(ident: string, name: string): Promise<boolean> {
  change({ nameProblem: undefined });
  return requestAccount('POST', '/plugins', { ident, name }, (message) => change({ nameProblem: message }));
}

/** Which versions are run: the live one, or the latest ones. */
export type Which = 'live' | 'all';

export const run = (ident: string, name: string, input: string, which: Which) =>
  request<VersionRuns>('POST', '/plugins/runs', { ident, name, input, which });

/** Has the back end run the plugin with the app's own data. */
export const work = (ident: string, name: string) =>
  request<WorkView>('POST', '/plugins/work', { ident, name });

export const loadOverview = (ident: string) =>
  request<Overview>('GET', `/plugins?${new URLSearchParams({ ident })}`);

export const loadDetails = (ident: string, name: string) =>
  request<PluginDetails>('GET', `/plugins?${new URLSearchParams({ ident, name })}`);

/** Makes a version live; `null`: the newest, from now on. */
export const setLive = (ident: string, name: string, version: string | null) =>
  request<PluginDetails>('PUT', '/plugins/live', { ident, name, version });

/** What the plugin service told the back end after a message with this number. */
export const loadWebhooks = (after: number) => request<WebhookMessages>('GET', `/webhooks?after=${after}`);

export const loadCustomers = () => request<CustomerList>('GET', '/customers');

export const setSuspended = (ident: string, suspended: boolean) =>
  request<CustomerList>('PATCH', '/customers', { ident, suspended });

export const deleteCustomer = (ident: string) => request<CustomerList>('DELETE', '/customers', { ident });

export const restoreCustomer = (ident: string) => request<CustomerList>('POST', '/customers', { ident });

/** The body of a response, or why there is none. */
export type Result<T> = { body: T; refusal?: undefined } | { body?: undefined; refusal: Refusal['error'] };

async function request<T extends object>(method: string, path: string, sent?: object): Promise<Result<T>> {
  try {
    const body = (await (await send(method, path, sent)).json()) as T | Refusal;
    return 'error' in body ? { refusal: body.error } : { body };
  } catch {
    return { refusal: { code: 'no-response', message: NO_RESPONSE } };
  }
}

const NO_RESPONSE = 'Larder’s server does not answer. Is it still running?';

const send = (method: string, path: string, body?: object): Promise<Response> =>
  fetch(path, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

/**
 * Sends a request whose response says who is signed in, and shows that. Resolves with whether it succeeded, and for the user that is
 * still shown.
 */
async function requestAccount(
  method: string,
  path: string,
  body?: object,
  onRefusal: (message: string) => void = (message) => change({ failure: message }),
): Promise<boolean> {
  change({ failure: undefined });
  const user = signedInAccount(state)?.user.name;
  const isLate = () => signedInAccount(state)?.user.name !== user;
  try {
    const response = await send(method, path, body);
    const received = response.status === 204 ? undefined : ((await response.json()) as object);
    if (isLate()) return false;
    if (!response.ok) onRefusal((received as Refusal).error.message);
    else if (received) change({ account: received as SignedIn | SignedOut });
    return response.ok;
  } catch {
    if (!isLate()) change({ failure: NO_RESPONSE });
    return false;
  }
}
