/**
 * The page that is measured in every way: a small editor that can be used once it has its draft. It takes its token from
 * its address, from the frame protocol, or, as Superset's embedded page does, from the SDK's message port.
 */
import { Switchboard } from '@superset-ui/switchboard';
import type { PluginToOpen } from '../../src/editor.ts';

/** What the page tells its parent, in ms by the clock that all frames of a browser share. */
export interface Usable {
  bench: 'usable';
  fn: string;
  /** The browser began to load this page. */
  begun: number;
  /** The page had its token. */
  tokenReceived: number;
  /** The draft was there and could be edited. */
  usable: number;
}

/** Or that it failed. */
export interface Failed {
  bench: 'failed';
  error: string;
}

addEventListener('unhandledrejection', ({ reason }) => {
  const message: Failed = { bench: 'failed', error: String(reason) };
  parent.postMessage(message, '*');
});

const now = () => performance.timeOrigin + performance.now();
const query = new URLSearchParams(location.search);
const text = (name: string) => query.get(name) ?? '';

const area = document.createElement('textarea');
area.disabled = true;
area.setAttribute('aria-label', 'Source');
document.querySelector('main')?.append(area);

let shown = '';

/** Shows a draft; asked for the same one with the same token again, it has it already. */
async function show({ builder, ident, namespace, fn, token }: PluginToOpen): Promise<void> {
  const tokenReceived = now();
  const path = [ident, namespace, fn].map(encodeURIComponent).join('/');
  if (shown === path + token) return;
  shown = path + token;
  area.disabled = true;
  const response = await fetch(`${builder}/api/v1/draft/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`The draft was answered with ${response.status}`);
  const { contents } = (await response.json()) as { contents: string };
  area.value = contents;
  area.disabled = false;
  const message: Usable = {
    bench: 'usable',
    fn,
    begun: performance.timeOrigin,
    tokenReceived,
    usable: now(),
  };
  parent.postMessage(message, '*');
}

const inAddress = (token: string): PluginToOpen => ({
  builder: text('builder'),
  ident: text('ident'),
  namespace: text('namespace') || 'default',
  fn: text('fn'),
  token,
});

if (query.has('token')) void show(inAddress(text('token')));

window.takeOpen(async (plugin, channel) => {
  await show(plugin);
  channel.ready();
});

addEventListener(
  'message',
  ({ data, ports: [port] }: MessageEvent<{ type?: string; handshake?: string }>) => {
    if (data.type !== '__embedded_comms__' || data.handshake !== 'port transfer' || !port) return;
    const switchboard = new Switchboard({ port, name: 'editor' });
    switchboard.defineMethod('guestToken', ({ guestToken }: { guestToken: string }) => {
      void show(inAddress(guestToken));
    });
    switchboard.start();
  },
);
