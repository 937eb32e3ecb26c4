import type { Refusal, Session, SignedOut, VersionRuns } from '../vendor/wire.ts';
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

/** The deployed versions of a plugin, each run with the input; or, in words, why they were not. */
export async function runVersions(ident: string, name: string, input: string): Promise<VersionRuns | string> {
  try {
    const response = await send('POST', '/plugins/runs', { ident, name, input });
    const answer = (await response.json()) as VersionRuns | Refusal;
    return 'error' in answer ? answer.error.message : answer;
  } catch {
    return NO_ANSWER;
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
