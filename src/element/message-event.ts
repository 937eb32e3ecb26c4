import type { PluginMessage } from './conversation.ts';
import {
  type Plugin,
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  type PluginEditorEvent,
  PluginEditorSaveEvent,
  PluginEditorTestEvent,
} from './events.ts';

/** What the page is told of by an event of the same name, with the same fields. */
export type EventMessage = Exclude<PluginMessage, { type: 'ready' | 'error' | 'token-request' | 'dirty' }>;

const EVENTS: Record<EventMessage['type'], new (fields: never) => PluginEditorEvent> = {
  save: PluginEditorSaveEvent,
  build: PluginEditorBuildEvent,
  test: PluginEditorTestEvent,
  deploy: PluginEditorDeployEvent,
};

/** The event that says what an editor said. */
export function messageEvent({ type, ...fields }: EventMessage, plugin: Plugin): Event {
  return new EVENTS[type]({ ...plugin, ...fields } as never);
}
