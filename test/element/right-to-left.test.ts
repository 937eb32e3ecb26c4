import { expect, fixture, html } from '@open-wc/testing';

import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import '../../src/plugin-features.ts';
import { faultsFromRight, linesOf } from '../support/reading-order.ts';
import { create, editorServer, untilError, part, place } from './plugin-editor-setup.ts';
import { builder, builderThat, loaded, parts, radios, retryButton } from './plugin-features-helpers.ts';

const edgesOf = (elements: readonly Element[]): DOMRect[] =>
  elements.map((one) => one.getBoundingClientRect());

/** Checks the positions of elements, given in reading order, within the content box of another. */
function expectFromRight(elements: readonly Element[], box: Element): void {
  const { left, right } = box.getBoundingClientRect();
  const style = getComputedStyle(box);
  const inner = {
    left: left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft),
    right: right - parseFloat(style.borderRightWidth) - parseFloat(style.paddingRight),
  };
  expect(faultsFromRight(edgesOf(elements), inner)).to.deep.equal([]);
}

/** A width for all elements beside each other, and one for hardly any text, in any font. */
const WIDTHS = [
  ['a wide', '200em'],
  ['a narrow', '8em'],
] as const;

describe('a page from right to left', () => {
  for (const selectable of [false, true]) {
    for (const [room, width] of WIDTHS) {
      it(`puts languages and features to the right in ${room} place, ${selectable ? 'with each button before its name' : 'as a list'}`, async () => {
        const server = await builder();
        const element = await loaded(
          await fixture<PluginFeaturesElement>(
            html`<plugin-features
              dir="rtl"
              style="inline-size: ${width}"
              builder=${server.url()}
              ?selectable=${selectable}
            ></plugin-features>`,
          ),
        );
        const languages = parts(element, 'language');
        expectFromRight(languages, element);
        expectFromRight(parts(element, 'feature'), element);
        for (const language of languages) {
          const within = [...language.querySelectorAll('input, [part=name], [part=short]')];
          expect(within).to.have.length(selectable ? 3 : 2);
          expectFromRight(within, language);
        }
        expect(radios(element)).to.have.length(selectable ? 3 : 0);
        if (width === '200em') expect(linesOf(edgesOf(languages))).to.have.length(1);
      });
    }
  }

  it('mirrors the error view of <plugin-editor> within its box', async () => {
    const server = await editorServer({ path: '/token', status: 401 });
    const parent = place();
    parent.dir = 'rtl';
    parent.style.inlineSize = '320px';
    const editor = create(server);
    parent.append(editor);
    await untilError(editor);
    const view = part(editor, 'error') as Element;
    expect(getComputedStyle(view).direction).to.equal('rtl');
    for (const box of [editor, view]) expect(box.scrollWidth).to.equal(box.clientWidth);
  });

  for (const [room, width] of WIDTHS) {
    it(`mirrors the error view of <plugin-features> in ${room} place within its box`, async () => {
      const server = await builderThat({ status: 404 });
      const element = await fixture<PluginFeaturesElement>(
        html`<plugin-features
          dir="rtl"
          style="inline-size: ${width}"
          builder=${server.url()}
        ></plugin-features>`,
      );
      await element.refresh().catch(() => {});
      await element.updateComplete;
      const [view] = parts(element, 'error');
      const read = [...(view?.querySelectorAll('p, button') ?? [])];
      expect(read.at(-1)).to.equal(retryButton(element));
      // The button is beside the text if there is room, and below it otherwise.
      expect(linesOf(edgesOf(read))).to.have.length(width === '200em' ? 1 : 2);
      expectFromRight(read, element);
    });
  }
});

describe('accessibility of <plugin-features> in a dark colour scheme', () => {
  const dark = async (base: string, selectable: boolean) =>
    fixture<PluginFeaturesElement>(
      html`<plugin-features
        builder=${base}
        label="Languages"
        ?selectable=${selectable}
        style="color-scheme: dark; background: Canvas; color: CanvasText"
      ></plugin-features>`,
    );

  for (const selectable of [false, true]) {
    it(`has no violations as a ${selectable ? 'radio group' : 'list'}`, async () => {
      const server = await builder();
      await expect(await loaded(await dark(server.url(), selectable))).to.be.accessible();
    });
  }

  it('has no violations in the error view', async () => {
    const server = await builderThat({ status: 404 });
    const element = await dark(server.url(), true);
    await element.refresh().catch(() => {});
    await element.updateComplete;
    expect(parts(element, 'error')).to.have.length(1);
    await expect(element).to.be.accessible();
  });
});
