import type { LSPPlugin } from '@codemirror/lsp-client';
import type { HelpMethod, HelpResult } from './results.ts';

/** Asks about the text as it is now, by way of the client, which keeps the text in step. */
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
