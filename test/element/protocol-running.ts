import { type FakeClock, fakeClock, settle } from './fake-clock.ts';
import {
  type Changes,
  type PluginEditorElement,
  type Rule,
  type ScriptedServer,
  flush,
  inState,
} from './plugin-editor-setup.ts';
import {
  type Ear,
  type Heard,
  listen,
  mountTalking,
  named,
  saidEvents,
  talkingServer,
} from './protocol-setup.ts';

export interface Running {
  clock: FakeClock;
  server: ScriptedServer;
  ear: Ear;
  element: PluginEditorElement;
  events: (Event & Record<string, unknown>)[];
}

/** A running editor under a clock of the test's, whose tokens live so many seconds unless the rules say otherwise. */
export async function running(life: number | undefined, ...rules: Rule[]): Promise<Running> {
  return runningWith({}, {}, life, ...rules);
}

export async function runningWith(
  hello: object | null,
  changes: Changes,
  life: number | undefined,
  ...rules: Rule[]
): Promise<Running> {
  const clock = fakeClock();
  const server = await talkingServer(hello, ...rules, {
    path: '/token',
    json: { token: 'renewed', ...(life !== undefined && { expires_in: life }) },
  });
  const ear = listen();
  const element = mountTalking(server, changes);
  const events = saidEvents(element);
  await inState(element, 'ready');
  return { clock, server, ear, element, events };
}

export const tokens = async (server: ScriptedServer): Promise<number> =>
  (await server.requests({ path: '/token' })).length;

/** How many token requests there are after all that was begun has come in. */
export async function settledTokens(element: PluginEditorElement, server: ScriptedServer): Promise<number> {
  await settle();
  await flush(element, server);
  return tokens(server);
}

/** Waits, in real time, for the message that a renewal ends in; the clock stands. */
export const renewed = (ear: Ear, times: number): Promise<Heard> => ear.until('token', times);

/** Waits until an event was seen so many times. */
export function seen(events: Event[], name: string, times: number): Promise<Event> {
  return new Promise((resolve) => {
    const look = () => {
      const found = named(events, name)[times - 1];
      if (found) resolve(found);
      else requestAnimationFrame(look);
    };
    look();
  });
}
