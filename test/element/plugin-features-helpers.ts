import { expect, fixture, html, nextFrame, oneEvent } from '@open-wc/testing';

import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';

export const FEATURES = '/api/v1/features';

export const record = {
  features: ['testing', 'stream_builds', 'time_travel'],
  languages: [
    { identifier: 'javascript', pretty: 'JavaScript', short: 'JS' },
    { identifier: 'typescript', pretty: 'TypeScript', short: 'TS' },
    { identifier: 'rust', pretty: 'Rust', short: 'RS' },
  ],
};

/** A builder that answers every request with the record above. */
export const builder = (): Promise<ScriptedServer> => builderThat({ json: record });

/** A builder that answers as the rules say, one after the other. */
export const builderThat = (...rules: Omit<Rule, 'path'>[]): Promise<ScriptedServer> =>
  scriptedServer(...rules.map((rule) => ({ path: FEATURES, ...rule })));

/** Resolves when the element shows its record. */
export async function loaded(element: PluginFeaturesElement): Promise<PluginFeaturesElement> {
  if (element.state !== 'ready') await oneEvent(element, 'plugin-features-load');
  await element.updateComplete;
  return element;
}

/** A radio group in the page, loaded. */
export async function picker(server: ScriptedServer): Promise<PluginFeaturesElement> {
  return loaded(
    await fixture<PluginFeaturesElement>(
      html`<plugin-features selectable label="Language" builder=${server.url()}></plugin-features>`,
    ),
  );
}

export function parts(element: Element, name: string): HTMLElement[] {
  return [...(element.shadowRoot?.querySelectorAll<HTMLElement>(`[part='${name}']`) ?? [])];
}

export const texts = (element: Element, name: string): string[] =>
  parts(element, name).map(({ textContent }) => textContent.trim());

export function radios(element: Element): HTMLInputElement[] {
  return [...(element.shadowRoot?.querySelectorAll('input') ?? [])];
}

export const checked = (element: Element): string[] =>
  radios(element)
    .filter((radio) => radio.checked)
    .map(({ value }) => value);

export const retryButton = (element: Element): HTMLElement => {
  const [button] = parts(element, 'retry');
  if (!button) expect.fail('there is no retry button');
  return button;
};

/** The text of the shadow root, with collapsed spaces. */
export const text = (element: Element): string =>
  (element.shadowRoot?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

/** Waits until the requests that a change causes have been sent. */
export async function settle(): Promise<void> {
  await nextFrame();
  await nextFrame();
}

export { rejection } from '../support/rejection.ts';
