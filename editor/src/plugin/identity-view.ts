import { type TemplateResult, html } from 'lit/html.js';
import { parseIdent } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { visibleText } from '../ui/visible-text.ts';
import type { PluginTarget } from './target.ts';

// Any app and any link can make this editor open a plugin. Only the user can notice that it is another tenant's, so every view
// of a plugin names its tenant and environment.

/** A name that a stranger may have chosen, isolated so that its direction does not affect the text around it. */
const name = (text: string, className = ''): TemplateResult =>
  html`<bdi class=${className}>${visibleText(text)}</bdi>`;

/** Whose plugin it is, in one line: the tenant, then the environment. `ident` must be one that `parseIdent` takes. */
export function ownerLine(ident: string): TemplateResult {
  const { environment, tenant } = parseIdent(ident);
  const { names } = texts();
  // The dot separates the two for the eye, and the hidden texts do for a screen reader.
  return html`<p class="owner" title=${names.owner(visibleText(tenant), visibleText(environment))}>
    <span class="visually-hidden">${names.tenantSpoken}</span>${name(tenant, 'tenant')}<span
      class="owner-dot"
      aria-hidden="true"
      >·</span
    ><span class="visually-hidden">${names.environmentSpoken}</span>${name(environment, 'environment')}
  </p>`;
}

/** The namespace and the name of a plugin; the name is the heading of its page. */
export const pluginHeading = ({ namespace, fn }: PluginTarget): TemplateResult =>
  html`<span class="namespace" title=${visibleText(namespace)}>${name(namespace)}</span>
    <h1 title=${visibleText(fn)}>${name(fn)}</h1>`;

/** Which plugin a page without an editor is about. */
export const pluginIdentity = ({ ident, namespace, fn }: PluginTarget): TemplateResult =>
  html`<div class="identity">
    <p class="plugin">
      <span class="namespace">${name(namespace)}</span><span class="plugin-name">${name(fn)}</span>
    </p>
    ${ownerLine(ident)}
  </div>`;

/** All that names a plugin, each name whole: for where there is room for it. */
export function pluginNames({ ident, namespace, fn }: PluginTarget): [label: string, name: TemplateResult][] {
  const { environment, tenant } = parseIdent(ident);
  const { names } = texts();
  return [
    [names.tenant, name(tenant)],
    [names.environment, name(environment)],
    [names.namespace, name(namespace)],
    [names.name, name(fn)],
  ];
}
