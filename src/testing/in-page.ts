import { createCommands, type StandInEditor } from './commands.ts';
import { StandInTokens } from './tokens.ts';

/**
 * Returns the stand-in editor that a `<plugin-editor>` of this page shows, for tests that run in the page itself. It has to be
 * served on the page's own origin, by {@link standInPlugin}.
 */
export function standInOf(element: Element): StandInEditor {
  return createCommands(async (name, args) => {
    const frame = element.shadowRoot?.querySelector('iframe');
    if (!frame) throw new Error('The element shows no frame: wait until its state is "ready".');
    const standIn = frame.contentDocument && frame.contentWindow?.standIn;
    if (!standIn)
      throw new Error(`The frame at ${frame.src} is no stand-in editor on the origin of this page.`);
    return (standIn[name] as (...all: unknown[]) => unknown)(...args);
  });
}

/**
 * Plays the token endpoint at a path of this page, by taking the place of `fetch` for it.
 * @returns the endpoint, with `restore()` to end it
 */
export function standInTokenEndpoint(path: string): StandInTokens & { restore(): void } {
  const tokens = new StandInTokens();
  const original = globalThis.fetch;
  const { href } = new URL(path, location.href);
  globalThis.fetch = async (...args) => {
    const request = new Request(...args);
    if (request.url.split('?', 1)[0] !== href) return original(request);
    request.signal.throwIfAborted();
    const body = request.method === 'POST' ? await request.text() : null;
    const { body: text, status } = tokens.answer(body, new URL(request.url).searchParams);
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  };
  return Object.assign(tokens, {
    restore: () => {
      globalThis.fetch = original;
    },
  });
}
