import { PluginEditorError, asEditorError } from '../core/errors.ts';

/**
 * Opens an address in a tab without an `opener`. The tab is opened before the address is known, because browsers allow that
 * only during a user activation.
 * @param address gets the address; if it rejects, the tab is closed
 * @throws PluginEditorError with code `popup-blocked`, or what `address` rejects with
 */
export async function openTab(address: () => Promise<string>): Promise<void> {
  let tab: Window | null = null;
  try {
    tab = window.open('about:blank', '_blank');
  } catch {
    // In a sandbox that allows no popups Firefox throws here.
  }
  if (!tab)
    throw new PluginEditorError('popup-blocked', 'The browser blocked the new tab; call this from a click');
  tab.opener = null;
  try {
    tab.location.replace(await address());
  } catch (error) {
    tab.close();
    throw asEditorError(error);
  }
}
