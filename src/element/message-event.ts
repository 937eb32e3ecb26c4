import type { PluginMessage } from './conversation.ts';
import {
  type Plugin,
  PluginEditorBuildEvent,
  PluginEditorDeployEvent,
  PluginEditorSaveEvent,
  PluginEditorTestEvent,
} from './events.ts';

/** The event that says what an editor said. */
export function messageEvent(message: PluginMessage, plugin: Plugin): Event | undefined {
  switch (message.type) {
    case 'save':
      return new PluginEditorSaveEvent(plugin);
    case 'build': {
      const { succeeded, outputLog } = message;
      return new PluginEditorBuildEvent({ ...plugin, succeeded, outputLog });
    }
    case 'test': {
      const { name, result, error } = message;
      return new PluginEditorTestEvent({
        ...plugin,
        ...(name !== undefined && { name }),
        ...(result !== undefined && { result }),
        ...(error !== undefined && { error }),
      });
    }
    case 'deploy':
      return new PluginEditorDeployEvent({ ...plugin, version: message.version });
    default:
      return undefined;
  }
}
