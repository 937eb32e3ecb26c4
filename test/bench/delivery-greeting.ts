/**
 * Stands in the page of the editor itself, so that the token is on its way while the editor's script still loads. What
 * is to be opened waits for that script.
 */
import { type PluginChannel, type PluginToOpen, connectLauncher } from '../../src/editor.ts';

type Open = (plugin: PluginToOpen, channel: PluginChannel) => void | Promise<void>;

declare global {
  interface Window {
    /** Called by the editor once it can open plugins. */
    takeOpen(open: Open): void;
  }
}

let early: Parameters<Open> | undefined;
let onOpen: Open = (...plugin) => {
  early = plugin;
};

connectLauncher({ capabilities: ['open'], onOpen: (...plugin) => onOpen(...plugin) });

window.takeOpen = (open) => {
  onOpen = open;
  if (early) void open(...early);
};
