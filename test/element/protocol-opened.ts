import { expect } from '@open-wc/testing';

import { type PluginEditorElement, type ScriptedServer, untilState } from './plugin-editor-setup.ts';
import {
  type ReceivedMessages,
  flushMessages,
  recordMessages,
  mountWithMessages,
  recordEvents,
  sendFromEditor,
  protocolServer,
} from './protocol-setup.ts';

/** A running editor, with the messages that it received and the events of its element. */
export interface Opened {
  server: ScriptedServer;
  received: ReceivedMessages;
  element: PluginEditorElement;
  seen: (Event & Record<string, unknown>)[];
}

export async function openEditor(changes = {}, hello = {}): Promise<Opened> {
  const server = await protocolServer(hello);
  const received = recordMessages();
  const element = mountWithMessages(server, { namespace: 'n', ...changes });
  const seen = recordEvents(element);
  await untilState(element, 'ready');
  return { server, received, element, seen };
}

/** The plugin that its events name. */
export const PLUGIN = { ident: 'com.example.tenant-1', namespace: 'n', fn: 'add-record' };

/** Makes the editor report whether it has unsaved work. */
export async function makeDirty({ element, received }: Opened, dirty = true): Promise<void> {
  sendFromEditor(element, received, { type: 'dirty', dirty });
  await flushMessages(element);
  expect(element.dirty).to.equal(dirty);
}
