import { PluginEditorError, asEditorError } from '../core/errors.ts';

/** Opens editors in new tabs, and closes those that still wait for their address. */
export class EditorTabs {
  /** Aborts the requests for the tokens of new tabs. */
  #abort = new AbortController();

  /**
   * Opens an address in a tab without an `opener`. The tab is opened before the address is known, because browsers allow that
   * only during a user activation.
   * @param address gets the address; if it rejects, the tab is closed. Its signal aborts when the tab is no longer wanted
   * @throws PluginEditorError with code `popup-blocked`, or what `address` rejects with
   */
  async open(address: (signal: AbortSignal) => Promise<string>): Promise<void> {
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
      tab.location.replace(await address(this.#abort.signal));
    } catch (error) {
      tab.close();
      throw asEditorError(error);
    }
  }

  /** Closes the tabs that still wait for their token, because the user may have signed out. */
  closeWaiting(): void {
    this.#abort.abort(new PluginEditorError('config', 'The element was closed or removed'));
    this.#abort = new AbortController();
  }
}
