import { expect } from '@open-wc/testing';

import { type PluginEditorElement, type ScriptedServer, inState } from './plugin-editor-setup.ts';
import {
  type Ear,
  heardOut,
  listen,
  mountTalking,
  saidEvents,
  say,
  talkingServer,
} from './protocol-setup.ts';

/** A running editor and all that was said. */
export interface Opened {
  server: ScriptedServer;
  ear: Ear;
  element: PluginEditorElement;
  seen: (Event & Record<string, unknown>)[];
}

export async function opened(changes = {}, hello = {}): Promise<Opened> {
  const server = await talkingServer(hello);
  const ear = listen();
  const element = mountTalking(server, { namespace: 'n', ...changes });
  const seen = saidEvents(element);
  await inState(element, 'ready');
  return { server, ear, element, seen };
}

/** What its events name. */
export const PLUGIN = { ident: 'com.example.tenant-1', namespace: 'n', fn: 'add-record' };

/** Has the editor say whether its work is saved. */
export async function makeDirty({ element, ear }: Opened, dirty = true): Promise<void> {
  say(element, ear, { type: 'dirty', dirty });
  await heardOut(element);
  expect(element.dirty).to.equal(dirty);
}
