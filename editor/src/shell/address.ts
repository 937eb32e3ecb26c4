import { parseEditorUrl } from 'plugin-editor/client.js';
import { type PluginTarget, checkTarget } from '../plugin/target.ts';

/** What the page's address asked for. `problem` says in words why no plugin can be opened by it. */
export interface Opened {
  target?: PluginTarget;
  token?: string;
  /** There was a token, and this editor takes none from an address. */
  tokenRefused?: true;
  problem?: string;
}

/** The parts of `window` that hold the address. */
export interface AddressBar {
  readonly location: { readonly href: string };
  readonly history: {
    readonly state: unknown;
    replaceState(state: unknown, unused: string, url: string): void;
  };
}

/**
 * Reads the editor's address and takes the token out of it, and out of the session's history, before anything else can
 * happen. The other parameters stay, so that a reload still knows which plugin it lacks a token for. Unless
 * `acceptToken`, the token is taken out and not used.
 */
export function takeAddress({ location, history }: AddressBar, acceptToken: boolean): Opened {
  const { href } = location;
  const url = new URL(href);
  if (url.searchParams.has('token')) {
    url.searchParams.delete('token');
    history.replaceState(history.state, '', url.href);
  }
  const { token, ...opened } = readAddress(href);
  if (token === undefined) return opened;
  return acceptToken ? { ...opened, token } : { ...opened, tokenRefused: true };
}

/** What an address asks for; never throws. */
export function readAddress(href: string): Opened {
  if (!['builder', 'ident', 'fn', 'token'].some((name) => new URL(href).searchParams.has(name))) return {};
  try {
    const { builder, ident, namespace, fn, template, token } = parseEditorUrl(href);
    return { target: checkTarget({ builder, ident, namespace, fn, template }), ...(token ? { token } : {}) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
