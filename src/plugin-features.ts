/** Defines `<plugin-features>`. Loading it twice, or together with another version, changes nothing. */
import { PluginFeaturesElement } from './element/plugin-features.ts';

if (!customElements.get('plugin-features')) customElements.define('plugin-features', PluginFeaturesElement);

declare global {
  interface HTMLElementTagNameMap {
    'plugin-features': PluginFeaturesElement;
  }
}

export { PluginFeaturesElement };
