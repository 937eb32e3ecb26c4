import type { EditorMessages, MessageOf } from '../core/messages.ts';
import {
  type Plugin,
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  PluginEditorDirtyEvent,
  type PluginEditorEvent,
  type PluginEditorEventMap,
  PluginEditorLiveEvent,
  PluginEditorSaveEvent,
  PluginEditorTestEvent,
} from './events.ts';

/** What an editor says about the work on a plugin. Each becomes an event of the same name and fields. */
type WorkMessages = Omit<EditorMessages, 'hello' | 'ready' | 'error' | 'token-request' | 'save-result'>;

/** The event of every such message, which is in the event map by its name and takes all fields of the message. */
const EVENTS: {
  [Type in keyof WorkMessages]: new (
    fields: Plugin & WorkMessages[Type],
  ) => PluginEditorEventMap[`plugin-editor-${Type}`];
} = {
  dirty: PluginEditorDirtyEvent,
  save: PluginEditorSaveEvent,
  build: PluginEditorBuildEvent,
  test: PluginEditorTestEvent,
  deploy: PluginEditorDeployEvent,
  live: PluginEditorLiveEvent,
};

/** The event that tells the page what an editor said about a plugin. */
export function messageEvent({ type, ...fields }: MessageOf<WorkMessages>, plugin: Plugin): Event {
  // The table above pairs each type with its fields, which the compiler cannot follow through a union.
  const EventClass = EVENTS[type] as new (fields: object) => PluginEditorEvent;
  return new EventClass({ ...plugin, ...fields });
}
