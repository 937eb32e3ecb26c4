import { SchemaError } from '../errors.ts';
import { requestLabel } from '../request.ts';
import { readEvents } from './event-stream.ts';

/**
 * Makes a `fetch` for a build that the builder streams. It calls `onLog` with each event `log` as it arrives, and resolves
 * with a response whose body is the data of the event `result`. From a builder that does not stream, the response is returned
 * as it is.
 */
export const loggingFetch =
  (onLog: (line: string) => void, fetch = globalThis.fetch): typeof globalThis.fetch =>
  async (url, init) => {
    const response = await fetch(url, init);
    const { ok, body, headers } = response;
    if (!ok || !body || !headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const label = requestLabel({ url: url as string, init });
    let result: string | undefined;
    await readEvents(body, label, (type, data) => {
      if (type === 'result') result = data;
      if (type === 'log') onLog(data);
    });
    if (result === undefined) throw new SchemaError(label, 'the event stream ended without a result');
    return new Response(result);
  };
