import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { cleanUpFirst } from '../../storage/databases.ts';

/** A message that a receiver got. */
export interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks, and what it got. */
export async function startReceiver(t: TestContext) {
  const messages: Message[] = [];
  const receiver = {
    origin: '',
    messages,
    /** Answers each message; a test may set its own (default: 204). */
    answer: (_message: Message, response: ServerResponse): void => {
      response.writeHead(204).end();
    },
    /** The type and the data of what it got, in order. */
    events: () =>
      messages.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> }),
    types: () => receiver.events().map(({ type }) => type),
  };
  const receive = async (incoming: IncomingMessage, response: ServerResponse) => {
    const message = { headers: incoming.headers, body: await text(incoming) };
    messages.push(message);
    receiver.answer(message, response);
  };
  const server = createServer((incoming, response) => void receive(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cleanUpFirst(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}

/** Whether a secret verifies a message, at the time at which it was signed. The official library decides. */
export function isSignedBy(secret: string, { headers, body }: Message): boolean {
  // The library compares with the time of the day, and the services of tests have a clock that stands still.
  const signedAt = Number(headers['webhook-timestamp']) * 1000;
  const expected = new Webhook(secret).sign(String(headers['webhook-id']), new Date(signedAt), body);
  return String(headers['webhook-signature']).split(' ').includes(expected);
}
