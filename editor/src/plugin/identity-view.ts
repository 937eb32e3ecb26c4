import { parseIdent } from 'plugin-editor/client.js';
import type { PluginTarget } from './target.ts';
import { el } from '../ui/dom.ts';
import { visibleText } from '../ui/visible-text.ts';

// Any app, and any link, can have this editor open a plugin, under an address that its users trust. That it is another
// tenant's is for them to notice, so every view of a plugin says whose it is.

/** A name of somebody's choice: its direction does not reach the text around it. */
const name = (text: string, className?: string): HTMLElement =>
  el('bdi', { class: className }, visibleText(text));

/** Whose plugin it is, in one line: the tenant, then the environment. `ident` must be one that `parseIdent` takes. */
export function ownerLine(ident: string): HTMLElement {
  const { environment, tenant } = parseIdent(ident);
  return el(
    'p',
    {
      class: 'owner',
      // The line may be cut off.
      title: `Tenant: ${visibleText(tenant)}\nEnvironment: ${visibleText(environment)}`,
    },
    el('span', { class: 'visually-hidden' }, 'Tenant '),
    name(tenant, 'tenant'),
    // Seen, the dot separates the two; heard, the words do.
    el('span', { class: 'owner-dot', 'aria-hidden': 'true' }, '·'),
    el('span', { class: 'visually-hidden' }, ', environment '),
    name(environment, 'environment'),
  );
}

/** The namespace and the name of a plugin; the name is the heading of its page. */
export const pluginHeading = ({ namespace, fn }: PluginTarget): HTMLElement[] => [
  el('span', { class: 'namespace', title: visibleText(namespace) }, name(namespace)),
  el('h1', { title: visibleText(fn) }, name(fn)),
];

/** Which plugin a page without an editor is about. */
export const pluginIdentity = ({ ident, namespace, fn }: PluginTarget): HTMLElement =>
  el(
    'div',
    { class: 'identity' },
    el(
      'p',
      { class: 'plugin' },
      el('span', { class: 'namespace' }, name(namespace)),
      el('span', { class: 'plugin-name' }, name(fn)),
    ),
    ownerLine(ident),
  );

/** All that names a plugin, each name whole: for where there is room for it. */
export function pluginNames({ ident, namespace, fn }: PluginTarget): [label: string, name: HTMLElement][] {
  const { environment, tenant } = parseIdent(ident);
  return [
    ['Tenant', name(tenant)],
    ['Environment', name(environment)],
    ['Namespace', name(namespace)],
    ['Name', name(fn)],
  ];
}
