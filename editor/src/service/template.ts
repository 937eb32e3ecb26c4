import { BuilderClient, type PluginSource } from 'plugin-editor/client.js';
import type { PluginTarget } from '../plugin/target.ts';
import type { TokenHolder } from './token-holder.ts';

export interface TemplateOptions {
  target: PluginTarget;
  /** The service's base address, as `findBuilder` returns it. */
  builder: string;
  tokenHolder: TokenHolder;
  signal: AbortSignal;
}

/** Loads the template of a language. @throws HttpError with status 404 where the service does not have that language */
export function loadTemplate(
  { target, builder, tokenHolder, signal }: TemplateOptions,
  language: string,
): Promise<PluginSource> {
  const client = new BuilderClient({ baseUrl: builder, token: () => tokenHolder.token });
  const request = { language, pluginName: target.fn, namespace: target.namespace };
  return tokenHolder.use(() => client.getTemplateV2(request, { signal }));
}
