import type { Context } from 'hono';

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

type Send = (event: string, data: string) => void;

/**
 * Answers with the events that `work` sends, as it sends them; `data` is one line, or JSON. What `work` throws
 * breaks the stream off. A client that goes away does not end the work.
 */
export function eventStream(c: Context, work: (send: Send) => Promise<void>): Response {
  const encoder = new TextEncoder();
  let open = true;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send: Send = (event, data) => {
        if (open) controller.enqueue(encoder.encode(`event: ${event}\ndata: ${data}\n\n`));
      };
      try {
        await work(send);
        if (open) controller.close();
      } catch (error) {
        if (open) controller.error(error);
      }
    },
    cancel() {
      open = false;
    },
  });
  // Sent as they are: a proxy that gathers or compresses them would keep them back.
  return c.body(body, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
}
