import { parseEditorUrl } from 'plugin-editor/client.js';
import { type PluginTarget, type UnusableField, UnusableValueError, checkTarget } from '../plugin/target.ts';

/** What the page's address asks for. */
export interface AddressRequest {
  target?: PluginTarget;
  token?: string;
  /** The address had a token, but the service does not allow tokens in addresses. */
  tokenRefused?: true;
  /** The parameter whose value cannot be used. */
  problem?: UnusableField;
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
 * Reads the editor's address and removes the token from it and from the session's history, before any other script runs. The
 * other parameters stay, so that a page that is reloaded can still name the plugin.
 * @param acceptToken whether the token may be used; it is removed in any case
 */
export function takeAddress({ location, history }: AddressBar, acceptToken: boolean): AddressRequest {
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

/** Parses an address; never throws. */
export function readAddress(href: string): AddressRequest {
  if (!['builder', 'ident', 'fn', 'token'].some((name) => new URL(href).searchParams.has(name))) return {};
  try {
    const { builder, ident, namespace, fn, template, token } = parseEditorUrl(href);
    return { target: checkTarget({ builder, ident, namespace, fn, template }), ...(token ? { token } : {}) };
  } catch (error) {
    return { problem: error instanceof UnusableValueError ? error.field : 'address' };
  }
}
