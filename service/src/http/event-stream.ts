import { setImmediate as loopTurn } from 'node:timers/promises';
import type { Context } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import type { StreamingApi } from 'hono/utils/stream';
import { bindingsOf } from './bindings.ts';
import { errorCodeOf, errorEvent, isUnexpectedError } from './errors.ts';
import { requestInfo } from './request-info.ts';
import type { ServiceResponse } from './response.ts';
import { translateBusyError } from './run-errors.ts';

/** Whether the client asks for server-sent events. */
export const wantsEventStream = (c: Context): boolean => accepts(c, 'text/event-stream');

/** Whether the client asks for a type by its name, and does not prefer JSON. */
export const accepts = (c: Context, wanted: string): boolean => {
  const ranges = (c.req.header('accept') ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()));
  const weightOf = (type: string) => {
    const [, ...parameters] = ranges.find(([name]) => name === type) ?? ['', 'q=0'];
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2);
    return Number(weight ?? 1) || 0;
  };
  return weightOf(wanted) > 0 && weightOf(wanted) >= weightOf('application/json');
};

/** The headers that differ from those that Hono sets; `undefined` for one that is not sent. */
const streamHeaders: readonly (readonly [name: string, value: string | undefined])[] = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  // A proxy that buffers or compresses the events would hold them back.
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  // The server sets these two by the state of the connection. If it closed a connection that it had announced as kept alive, the
  // client's next request would be lost.
  ['transfer-encoding', undefined],
  ['connection', undefined],
];

/** How long a client may leave a piece of an event unread before its connection is ended, in ms. */
const writeTime = 30_000;

/** The longest part of an event that is written at once, in bytes: a client that takes such pieces in time keeps the pace. */
const pieceSize = 16 * 1024;

declare module 'hono' {
  interface ContextVariableMap {
    /** Reports an error that was thrown after the response had begun, unless the client caused it. */
    reportUnexpectedError?: (error: unknown) => void;
  }
}

/** Sends one event, and resolves once the client can take the next one. */
type Send = (event: string, data: string) => Promise<void>;

/**
 * Responds with the events that `work` sends, as it sends them. For a client that does not read, only one event is kept in
 * memory, and the connection is ended after `timeout` ms without progress (default 30,000). An error of `work` that the service
 * responds with on purpose becomes the last event, `error`; an unexpected one breaks the stream off, and is reported. A client that
 * goes away does not end `work`.
 */
export function eventStream(c: Context, work: (send: Send) => Promise<void>, timeout = writeTime): Response {
  const response = streamSSE(c, async (out) => {
    const send: Send = (event, data) =>
      writeInPieces(c, out, new TextEncoder().encode(toEvent(event, data)), timeout);
    try {
      await work(send);
    } catch (error) {
      const translated = translateBusyError(error, 'user');
      if (isUnexpectedError(translated)) return fail(c, out, translated);
      const info = requestInfo(c);
      info.errorCode = errorCodeOf(translated);
      return send('error', errorEvent(translated, info.id));
    }
  });
  for (const [name, value] of streamHeaders) {
    if (value === undefined) response.headers.delete(name);
    else response.headers.set(name, value);
    // Hono also keeps its own values in the context, and would overwrite these with them.
    c.header(name, value);
  }
  return response;
}

/**
 * Responds with the text that `work` writes, such as all rows of a list. As with {@link eventStream}, only one text is kept for a
 * client that does not read. What `work` does between two texts takes a turn of its caller, as a request does. `work` has to stop
 * when `write` resolves with false: then the client has gone.
 */
export function textStream(
  c: Context,
  type: string,
  work: (write: (text: string) => Promise<boolean>) => Promise<void>,
): Response {
  c.header('content-type', type);
  if (c.req.method === 'HEAD') return c.body(null);
  return stream(c, async (out) => {
    const takeTurn = async () => requestInfo(c).held?.takeTurn(() => c.req.raw.signal);
    let endTurn: (() => void) | undefined;
    try {
      endTurn = await takeTurn();
      await work(async (text) => {
        endTurn?.();
        await writeInPieces(c, out, new TextEncoder().encode(text), writeTime);
        // A client that reads fast, and a database that answers at once, would keep the event loop in this stream.
        await loopTurn();
        endTurn = await takeTurn();
        return !out.aborted;
      });
    } catch (error) {
      fail(c, out, translateBusyError(error, 'user'));
    } finally {
      endTurn?.();
    }
  });
}

/** Responds with what another handler responds. A stream is counted, and sent in pieces, as one of the service's own. */
export function relayStream(c: Context, response: Response): Response {
  const { body, headers, status } = response;
  if (!body || headers.get('content-type') !== 'text/event-stream') return response;
  const relayed = stream(c, async (out) => {
    try {
      for await (const bytes of body) {
        await writeInPieces(c, out, bytes, writeTime);
        if (out.aborted) return;
      }
    } catch (error) {
      fail(c, out, error);
    }
  });
  return new Response(relayed.body, { headers, status });
}

async function writeInPieces(
  c: Context,
  out: StreamingApi,
  bytes: Uint8Array,
  timeout: number,
): Promise<void> {
  const outgoing = bindingsOf(c).outgoing as ServiceResponse | undefined;
  const release = outgoing?.held?.holdUnsent(bytes.byteLength);
  for (let start = 0; start < bytes.byteLength && !out.aborted; start += pieceSize) {
    const timer = setTimeout(() => breakOff(c, () => out.abort()), timeout);
    await out.write(bytes.subarray(start, start + pieceSize));
    clearTimeout(timer);
  }
  release?.();
}

/** The text of a server-sent event. */
function toEvent(event: string, data: string): string {
  const lines = data.split(/\r\n?|\n/).map((line) => `data: ${line}`);
  return [`event: ${event}`, ...lines, '', ''].join('\n');
}

/** Breaks a stream off after an error. Its request is logged with the code, because the status was sent before. */
function fail(c: Context, out: StreamingApi, error: unknown): void {
  requestInfo(c).errorCode = errorCodeOf(error);
  c.get('reportUnexpectedError')?.(error);
  breakOff(c, () => out.abort());
}

/** Ends the connection, so that the client sees that the stream is incomplete; without a connection, ends the stream. */
function breakOff(c: Context, abort: () => void): void {
  bindingsOf(c).outgoing?.destroy();
  abort();
}
