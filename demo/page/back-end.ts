import type { Refusal, Session, SignedOut } from '../vendor/wire.ts';
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

async function ask(
  method: string,
  path: string,
  body?: object,
  refused: (message: string) => void = (message) => change({ failure: message }),
): Promise<boolean> {
  change({ failure: undefined });
  try {
    const response = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) refused(((await response.json()) as Refusal).error.message);
    else if (response.status !== 204) change({ session: (await response.json()) as Session | SignedOut });
    return response.ok;
  } catch {
    change({ failure: 'Larder’s server does not answer. Is it still running?' });
    return false;
  }
}
