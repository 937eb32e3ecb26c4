import { openBrowser } from './browser.ts';

/** Chromium with one context for each page. */
export interface Contexts {
  /** Opens an address in a new context, which has no cache, no connection and no session of any other. */
  open(address: string): Promise<{ close(): Promise<unknown> }>;
  close(): Promise<void>;
}

/**
 * Puppeteer starts the browser and lets go of it: it would halt every frame of another site at its start, to attach to
 * it, and that is in the midst of what is measured. The few commands needed go to the browser by hand.
 */
export async function openContexts(...args: string[]): Promise<Contexts> {
  const browser = await openBrowser(...args);
  const socket = new WebSocket(browser.wsEndpoint());
  await browser.disconnect();
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('The browser cannot be reached')));
  });

  let last = 0;
  const send = <T>(method: string, params: object = {}): Promise<T> => {
    const id = ++last;
    return new Promise((resolve, reject) => {
      const handleMessage = ({ data }: MessageEvent<string>) => {
        const reply = JSON.parse(data) as { id?: number; result?: T; error?: { message: string } };
        if (reply.id !== id) return;
        socket.removeEventListener('message', handleMessage);
        if (reply.error) reject(new Error(`${method}: ${reply.error.message}`));
        else resolve(reply.result as T);
      };
      socket.addEventListener('message', handleMessage);
      socket.send(JSON.stringify({ id, method, params }));
    });
  };

  return {
    open: async (url) => {
      const context = await send<{ browserContextId: string }>('Target.createBrowserContext');
      await send('Target.createTarget', { url, ...context });
      return { close: () => send('Target.disposeBrowserContext', context) };
    },
    close: async () => {
      const ended = new Promise((resolve) => browser.process()?.once('exit', resolve));
      await send('Browser.close');
      await ended;
    },
  };
}
