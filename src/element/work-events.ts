import type { EditorMessages, MessageOf } from '../core/messages.ts';
import {
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  PluginEditorDirtyEvent,
  type PluginEditorEvent,
  type PluginEditorEventMap,
  PluginEditorLiveEvent,
  PluginEditorSaveEvent,
  PluginEditorTestEvent,
  type PluginKey,
} from './events.ts';

/** The editor's messages about the work on a plugin. Each becomes an event of the same name and fields. */
type WorkMessages = Omit<
  EditorMessages,
  'hello' | 'ready' | 'error' | 'token-request' | 'save-result' | 'assist' | 'assist-stop'
>;

/** The event of each such message. The type has the compiler check that it is in the event map and takes all fields. */
const EVENTS: {
  [Type in keyof WorkMessages]: new (
    fields: PluginKey & WorkMessages[Type],
  ) => PluginEditorEventMap[`plugin-editor-${Type}`];
} = {
  dirty: PluginEditorDirtyEvent,
  save: PluginEditorSaveEvent,
  build: PluginEditorBuildEvent,
  test: PluginEditorTestEvent,
  deploy: PluginEditorDeployEvent,
  live: PluginEditorLiveEvent,
};

/** Makes the event for a message of the editor about a plugin. */
export function messageEvent({ type, ...fields }: MessageOf<WorkMessages>, plugin: PluginKey): Event {
  // The table above pairs each type with its fields, which the compiler cannot follow through a union.
  const EventClass = EVENTS[type] as new (fields: object) => PluginEditorEvent;
  return new EventClass({ ...plugin, ...fields });
}
