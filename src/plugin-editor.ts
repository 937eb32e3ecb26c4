/** Defines `<plugin-editor>`. Loading it twice, or together with another version, changes nothing. */
import { PluginEditorElement } from './element/plugin-editor.ts';

if (!customElements.get('plugin-editor')) customElements.define('plugin-editor', PluginEditorElement);

declare global {
  interface HTMLElementTagNameMap {
    'plugin-editor': PluginEditorElement;
  }
}

export { PluginEditorElement };
