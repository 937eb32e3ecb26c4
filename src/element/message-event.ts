import type { PluginMessage } from './conversation.ts';
import {
  type Plugin,
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  type PluginEditorEvent,
  PluginEditorSaveEvent,
  PluginEditorTestEvent,
} from './events.ts';

/** By type of message, the event that says it, and the fields that go from one to the other. */
const EVENTS: {
  [type: string]: [Class: new (fields: never) => PluginEditorEvent, ...names: string[]] | undefined;
} = {
  save: [PluginEditorSaveEvent],
  build: [PluginEditorBuildEvent, 'succeeded', 'outputLog'],
  test: [PluginEditorTestEvent, 'name', 'result', 'error'],
  deploy: [PluginEditorDeployEvent, 'version'],
};

/** The event that says what an editor said; none for what is not for the page. */
export function messageEvent(message: PluginMessage, plugin: Plugin): Event | undefined {
  const [Class, ...names] = EVENTS[message.type] ?? [];
  const fields: Record<string, unknown> = { ...plugin };
  for (const name of names) {
    if (name in message) fields[name] = message[name as keyof PluginMessage];
  }
  return Class && new Class(fields as never);
}
