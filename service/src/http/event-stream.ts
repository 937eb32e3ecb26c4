import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { busyAnswer } from './run-errors.ts';

/** Whether the client asks for server-sent events. */
export const wantsEventStream = (c: Context): boolean =>
  (c.req.header('accept') ?? '')
    .split(',')
    .map((range) =>
      range
        .toLowerCase()
        .split(';')
        .map((part) => part.trim()),
    )
    .some(
      ([type, ...parameters]) =>
        type === 'text/event-stream' && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one)),
    );

/** What an answer says in place of what Hono makes it say; `undefined` for nothing. */
const streamHeaders: readonly (readonly [name: string, value: string | undefined])[] = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  // Sent as they are: a proxy that gathers or compresses them would keep them back.
  ['cache-control', 'no-store, no-transform'],
  ['x-accel-buffering', 'no'],
  // These are the connection's, which the server sees to. A client that is told that a connection stays, and it does not,
  // loses its next request.
  ['transfer-encoding', undefined],
  ['connection', undefined],
];

/** How long a client may leave one event unread before its connection is ended, in ms. */
const writeTime = 30_000;

declare module 'hono' {
  interface ContextVariableMap {
    /** Tells of what was thrown after the answer had begun, where it is a fault of ours. */
    reportFault?: (error: unknown) => void;
  }
}

/** Sends one event, and resolves when the client has room for the next. `data` is one line, or JSON. */
type Send = (event: string, data: string) => Promise<void>;

/**
 * Answers with the events that `work` sends, as it sends them. Who does not read keeps one event in memory, and the connection
 * for so long: `timeout`, in ms. What `work` throws breaks the stream off, and is reported where it is a fault. A client that goes away does not end the work.
 */
export function eventStream(c: Context, work: (send: Send) => Promise<void>, timeout = writeTime): Response {
  const response = streamSSE(c, async (stream) => {
    const send: Send = async (event, data) => {
      if (stream.aborted) return;
      const timer = setTimeout(() => breakOff(c, () => stream.abort()), timeout);
      await stream.writeSSE({ event, data });
      clearTimeout(timer);
    };
    try {
      await work(send);
    } catch (error) {
      // That the client went, or that too much waits, is none.
      c.get('reportFault')?.(busyAnswer(error, true));
      breakOff(c, () => stream.abort());
    }
  });
  for (const [name, value] of streamHeaders) {
    if (value === undefined) response.headers.delete(name);
    else response.headers.set(name, value);
    // Hono keeps what it set itself here, too, and would put it in place of ours.
    c.header(name, value);
  }
  return response;
}

/** Ends the connection, so that the client sees that the stream is not whole; and the stream, where there is none. */
function breakOff(c: Context, abort: () => void): void {
  const env: unknown = c.env;
  const { outgoing } = (env ?? {}) as { outgoing?: { destroy?: () => void } };
  outgoing?.destroy?.();
  abort();
}
