import { expect, fixture, html } from '@open-wc/testing';

import { PluginEditorError } from '../../src/core/errors.ts';
import {
  type PluginFeaturesStrings,
  defaultFeaturesStrings,
  defaultStrings,
} from '../../src/element/strings.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import '../../src/plugin-features.ts';
import {
  untilChangeTo,
  create,
  editorServer,
  untilError,
  untilState,
  part,
  place,
} from './plugin-editor-setup.ts';
import { FEATURES, builderThat, loaded, record, settle } from './plugin-features-helpers.ts';

/** A distinct text without letters instead of each string. */
const marks = <T extends object>(texts: T): T =>
  Object.fromEntries(Object.keys(texts).map((key, index) => [key, `⟦${index}⟧`])) as T;

const NAMING = ['aria-label', 'aria-description', 'aria-roledescription', 'title', 'alt', 'placeholder'];

/** Everything that an element itself shows, or provides for a screen reader. */
function visibleText(element: Element): string {
  const root = element.shadowRoot as ShadowRoot;
  const named = [...root.querySelectorAll('*')].flatMap((one) => [
    ...NAMING.map((name) => one.getAttribute(name) ?? ''),
    one instanceof HTMLInputElement ? one.validationMessage : '',
  ]);
  return [root.textContent, ...named].join(' ').replaceAll(/\s+/g, ' ').trim();
}

const noLetters = (element: Element, state: string) =>
  expect(visibleText(element), state).not.to.match(/\p{L}/u);

describe('replacing all strings of <plugin-editor>', () => {
  const strings = marks(defaultStrings);

  it('leaves no other text while it is idle, loading or ready', async () => {
    const server = await editorServer({ path: '/token', delay: 'hang', times: 1, json: { token: 't' } });
    const element = create(server, { fn: null, label: '№ 1', strings });
    place().append(element);
    await element.updateComplete;
    noLetters(element, 'idle');
    element.fn = 'add-record';
    await untilChangeTo(element, 'loading');
    noLetters(element, 'loading');
    expect(visibleText(element)).to.contain(strings.loading);
    const ready = untilState(element, 'ready');
    await server.release('/token');
    await ready;
    noLetters(element, 'ready');
    expect(visibleText(element)).to.contain('№ 1');
  });

  const codes = Object.keys(strings).filter((key) => key !== 'loading' && key !== 'retry') as 'config'[];
  it('leaves no other text in the view of any error', async () => {
    const server = await editorServer();
    for (const code of codes) {
      const fail = () => Promise.reject(new PluginEditorError(code, 'In English'));
      const element = create(server, { fetchToken: fail, strings });
      place().append(element);
      await untilError(element);
      expect(element.error?.code).to.equal(code);
      const canRetry = !['config', 'frame-blocked'].includes(code);
      expect(visibleText(element)).to.equal(strings[code] + (canRetry ? ` ${strings.retry}` : ''));
      // The message of an error is for developers, and not shown.
      element.strings = { retry: strings.retry };
      await element.updateComplete;
      expect(part(element, 'error')?.textContent)
        .to.contain(defaultStrings[code])
        .and.not.to.contain('In English');
      element.remove();
    }
  });
});

describe('replacing all strings of <plugin-features>', () => {
  const strings = marks<PluginFeaturesStrings>({ ...defaultFeaturesStrings, 'feature-time_travel': '' });
  const numbered = { ...record, languages: [{ identifier: 'js', pretty: '1', short: '2' }] };
  const mount = (base: string, selectable: boolean) =>
    fixture<PluginFeaturesElement>(
      html`<plugin-features
        builder=${base}
        ?selectable=${selectable}
        required
        .strings=${strings}
      ></plugin-features>`,
    );

  for (const selectable of [false, true]) {
    it(`leaves no other text ${selectable ? 'in a radio group' : 'in a list'}`, async () => {
      const server = await builderThat({ json: numbered, delay: 'hang' });
      const element = await mount(server.url(), selectable);
      noLetters(element, 'loading');
      expect(visibleText(element)).to.equal(strings.loading);
      const done = loaded(element);
      await server.release(FEATURES);
      await done;
      await settle();
      noLetters(element, 'ready');
      expect(element.validationMessage).to.equal(selectable ? strings.required : '');
      for (const text of [strings.languages, strings.features, strings['feature-testing']]) {
        expect(visibleText(element)).to.contain(text);
      }
    });
  }

  it('leaves no other text without languages, and in the error view', async () => {
    const server = await builderThat(
      { json: { features: [], languages: [] }, times: 1 },
      { status: 404, times: 1 },
    );
    const element = await loaded(await mount(server.url(), true));
    expect(visibleText(element)).to.equal(strings.empty);
    await element.refresh().catch(() => {});
    await element.updateComplete;
    expect(visibleText(element)).to.equal(`${strings.empty} ${strings.error} ${strings.retry}`);
    element.strings = {};
    await element.updateComplete;
    expect(visibleText(element)).to.contain(defaultFeaturesStrings.error).and.not.to.contain('404');
  });
});
