import * as z from 'zod/mini';
import type { PluginTarget } from '../plugin/target.ts';
import { operationUrl, requestJson } from '../service/request.ts';
import type { TokenHolder } from '../service/token-holder.ts';
import { type HelpMethod, type HelpResult, helpResults } from './results.ts';

/** A request of the Language Server Protocol, and the text that it is about. */
export interface HelpRequest<Method extends HelpMethod = HelpMethod> {
  lang: string;
  contents: string;
  method: Method;
  params: object;
  signal: AbortSignal;
}

/** Sends a request to the service. Rejects with what `requestJson` throws. */
export type SendHelpRequest = <Method extends HelpMethod>(
  request: HelpRequest<Method>,
) => Promise<HelpResult<Method>>;

export interface ServiceRequestOptions {
  /** A base address as `findBuilder` returns it. */
  builder: string;
  target: PluginTarget;
  tokenHolder: TokenHolder;
}

/** Creates a function that sends each request with the whole text: the node that answers it need not know the one before. */
export function createServiceRequest({
  builder,
  target,
  tokenHolder,
}: ServiceRequestOptions): SendHelpRequest {
  const { ident, namespace, fn } = target;
  return async ({ lang, contents, method, params, signal }) => {
    const schema = resultSchema(schemas[method]);
    const { data } = await tokenHolder.use(() =>
      requestJson(schema, {
        url: operationUrl(builder, 'language-help', lang, ident, namespace, fn),
        method: 'POST',
        headers: { ...tokenHolder.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ contents, request: { method, params } }),
        signal,
      }),
    );
    return data.result;
  };
}

/** The schemas of the results, in the form in which the compiler finds the one of a method. */
const schemas: { readonly [Method in HelpMethod]: z.ZodMiniType<HelpResult<Method>> } = helpResults;

const resultSchema = <Result>(result: z.ZodMiniType<Result>): z.ZodMiniType<{ result: Result }> =>
  z.object({ result });
