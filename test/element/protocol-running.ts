import { type FakeClock, fakeClock, settle } from './fake-clock.ts';
import {
  type Changes,
  type PluginEditorElement,
  type Rule,
  type ScriptedServer,
  flush,
  untilState,
} from './plugin-editor-setup.ts';
import {
  type ReceivedMessages,
  type ReceivedMessage,
  recordMessages,
  mountWithMessages,
  named,
  recordEvents,
  protocolServer,
} from './protocol-setup.ts';

export interface Running {
  clock: FakeClock;
  server: ScriptedServer;
  received: ReceivedMessages;
  element: PluginEditorElement;
  events: (Event & Record<string, unknown>)[];
}

/** Opens an editor under a fake clock. Its tokens live `life` seconds unless the rules say otherwise. */
export async function openForRenewal(life: number | undefined, ...rules: Rule[]): Promise<Running> {
  return openForRenewalWith({}, {}, life, ...rules);
}

export async function openForRenewalWith(
  hello: object | null,
  changes: Changes,
  life: number | undefined,
  ...rules: Rule[]
): Promise<Running> {
  const clock = fakeClock();
  const server = await protocolServer(hello, ...rules, {
    path: '/token',
    json: { token: 'renewed', ...(life !== undefined && { expires_in: life }) },
  });
  const received = recordMessages();
  const element = mountWithMessages(server, changes);
  const events = recordEvents(element);
  await untilState(element, 'ready');
  return { clock, server, received, element, events };
}

export const tokenRequests = async (server: ScriptedServer): Promise<number> =>
  (await server.requests({ path: '/token' })).length;

/** The number of token requests once all that were begun have arrived. */
export async function countTokenRequests(
  element: PluginEditorElement,
  server: ScriptedServer,
): Promise<number> {
  await settle();
  await flush(element, server);
  return tokenRequests(server);
}

/** Waits in real time, while the fake clock stands still, for the message with a new token. */
export const untilRenewed = (received: ReceivedMessages, times: number): Promise<ReceivedMessage> =>
  received.until('token', times);

/** Waits until an event was dispatched `times` times. */
export function untilEvent(events: Event[], name: string, times: number): Promise<Event> {
  return new Promise((resolve) => {
    const look = () => {
      const found = named(events, name)[times - 1];
      if (found) resolve(found);
      else requestAnimationFrame(look);
    };
    look();
  });
}
