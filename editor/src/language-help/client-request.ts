import type { LSPPlugin } from '@codemirror/lsp-client';
import type { HelpMethod, HelpResult } from './results.ts';

/** Sends a request about the present text through CodeMirror's client, after the client has sent the text itself. */
export function sendClientRequest<Method extends HelpMethod>(
  plugin: LSPPlugin,
  method: Method,
  params: object,
): { result: Promise<HelpResult<Method>>; cancel: () => void } {
  const { client } = plugin;
  client.sync();
  return {
    result: client.request<object, HelpResult<Method>>(method, params),
    cancel: () => client.cancelRequest(params),
  };
}
