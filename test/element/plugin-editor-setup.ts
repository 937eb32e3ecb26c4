import { expect, fixtureCleanup } from '@open-wc/testing';

import type { PluginEditorError } from '../../src/core/errors.ts';
import '../../src/plugin-editor.ts';
import type { PluginEditorElement } from '../../src/plugin-editor.ts';
import { rejection as rejectionOf } from '../support/rejection.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';

export type { PluginEditorElement, PluginEditorError, Rule, ScriptedServer };

/** The token of every response. It has leaked when it occurs anywhere but in the URL of the frame. */
export const SECRET = 'tok-5ecret';

/** The page of an editor that does not use the protocol. */
export const EDITOR_PAGE = '<!doctype html><meta charset="utf-8"><title>Editor</title><p>Editor</p>';

/** A server with a token endpoint and an editor that does not use the protocol. The given rules take precedence. */
export const editorServer = (...rules: Rule[]): Promise<ScriptedServer> =>
  scriptedServer(
    ...rules,
    { path: '/token', json: { token: SECRET } },
    { path: '/editor*', html: EDITOR_PAGE },
    { path: '/ping', body: '' },
  );

/** Attributes, where `null` removes one, and properties, which have objects and functions as values. */
export type Changes = Record<string, unknown>;

export function apply(element: HTMLElement, changes: Changes): void {
  for (const [name, value] of Object.entries(changes)) {
    if (typeof value === 'string') element.setAttribute(name, value);
    else if (value === null) element.removeAttribute(name);
    else Object.assign(element, { [name]: value });
  }
}

/** A complete element that is not in the page yet. */
export function create(
  server: ScriptedServer,
  changes: Changes = {},
  page: Document = document,
): PluginEditorElement {
  const element = page.createElement('plugin-editor');
  apply(element, {
    'editor-url': server.url('/editor'),
    builder: server.url(),
    ident: 'com.example.tenant-1',
    fn: 'add-record',
    'token-endpoint': server.sameOrigin.url('/token'),
    ...changes,
  });
  return element;
}

/** A place in the page, emptied after each test. */
export function place(): HTMLElement {
  const parent = document.createElement('div');
  document.body.append(parent);
  places.push(parent);
  return parent;
}

const places: HTMLElement[] = [];

let listening = new AbortController();

afterEach(() => {
  listening.abort();
  listening = new AbortController();
  for (const each of places.splice(0)) each.remove();
  fixtureCleanup();
});

/** A complete element in the page. */
export function mount(server: ScriptedServer, changes: Changes = {}): PluginEditorElement {
  const element = create(server, changes);
  place().append(element);
  return element;
}

/** Resolves as soon as the element is in the given state; rejects when `error` comes instead. */
export function untilState(element: PluginEditorElement, state: PluginEditorElement['state']): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (element.state === state) resolve(element.updateComplete.then(() => undefined));
      else if (element.state === 'error') reject(element.error ?? new Error('no error'));
      else return;
      element.removeEventListener('plugin-editor-state', check);
    };
    element.addEventListener('plugin-editor-state', check);
    if (element.state === state) check();
  });
}

/** A complete element in the page, whose editor is shown, and its server. */
export async function mountReady(
  changes: Changes = {},
  ...rules: Rule[]
): Promise<{ server: ScriptedServer; element: PluginEditorElement }> {
  const server = await editorServer(...rules);
  const element = mount(server, changes);
  await untilState(element, 'ready');
  return { server, element };
}

/** Waits for the state `error`, and resolves with the error. */
export async function untilError(element: PluginEditorElement): Promise<PluginEditorError> {
  if (element.state !== 'error') await untilChangeTo(element, 'error');
  await element.updateComplete;
  return element.error as PluginEditorError;
}

/** Waits for the next change to a state, even if that is the present one. */
export function untilChangeTo(
  element: PluginEditorElement,
  state: PluginEditorElement['state'],
): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (element.state !== state) return;
      element.removeEventListener('plugin-editor-state', check);
      resolve(element.updateComplete.then(() => undefined));
    };
    element.addEventListener('plugin-editor-state', check);
  });
}

/** Resolves with the reason of a rejection, for a method of the element. */
export const rejection = (promise: Promise<unknown>): Promise<PluginEditorError> => rejectionOf(promise);

export const frames = (element: PluginEditorElement): HTMLIFrameElement[] => [
  ...(element.shadowRoot?.querySelectorAll('iframe') ?? []),
];

export const part = (element: PluginEditorElement, name: string): HTMLElement | null =>
  element.shadowRoot?.querySelector<HTMLElement>(`[part~="${name}"]`) ?? null;

/** The only frame. */
export function frameOf(element: PluginEditorElement): HTMLIFrameElement {
  const all = frames(element);
  expect(all).to.have.length(1);
  return all[0] as HTMLIFrameElement;
}

/** The events of an element from now on, oldest first, by default those that it has with any editor. */
export function eventsOf(
  element: PluginEditorElement,
  names: readonly string[] = ['state', 'ready', 'error', 'expiring', 'dirty', 'discard'],
): (Event & Record<string, unknown>)[] {
  const seen: (Event & Record<string, unknown>)[] = [];
  for (const name of names) {
    document.addEventListener(
      `plugin-editor-${name}`,
      (event) => {
        if (event.composedPath()[0] === element) seen.push(event as Event & Record<string, unknown>);
      },
      { signal: listening.signal },
    );
  }
  return seen;
}

/** After this, all requests that were begun before have reached the server. */
export async function flush(element: PluginEditorElement, server: ScriptedServer): Promise<void> {
  await element.updateComplete;
  // The two origins have connections of their own.
  for (const { url } of [server, server.sameOrigin]) await fetch(url('/ping'));
}

/** How many requests each path got, pings left out. */
export async function requestCounts(server: ScriptedServer): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { path } of await server.requests())
    if (path !== '/ping') counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}
