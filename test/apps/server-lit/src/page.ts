import { html } from 'lit';
import type { PluginEditorReadyEvent, PluginFeaturesElement } from 'plugin-editor';

const headers = { 'x-app': 'server-lit' };

function show(selector: string, text: string): void {
  const output = document.querySelector(selector);
  if (output) output.textContent = text;
}

export const page = (place: Record<string, string>) => html`
  <plugin-editor
    editor-url=${place['editor']}
    builder=${place['builder']}
    ident="com.example.acme"
    fn="first"
    template="typescript"
    token-endpoint="token"
    token-delivery=${place['delivery']}
    .tokenHeaders=${headers}
    @plugin-editor-ready=${(event: PluginEditorReadyEvent) => show('#events', `ready:${event.confirmed}`)}
  ></plugin-editor>
  <plugin-features
    builder=${place['builder']}
    selectable
    value="typescript"
    @input=${(event: Event) => show('#language', (event.target as PluginFeaturesElement).value)}
  ></plugin-features>
  <output id="events"></output>
  <output id="language">typescript</output>
`;
