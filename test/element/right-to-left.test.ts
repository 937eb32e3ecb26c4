import { expect, fixture, html } from '@open-wc/testing';

import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import '../../src/plugin-features.ts';
import { create, editorServer, failure, part, place } from './plugin-editor-setup.ts';
import {
  FEATURES,
  builder,
  builderThat,
  loaded,
  parts,
  radios,
  retryButton,
} from './plugin-features-helpers.ts';

const middle = (one: Element | null | undefined): number => {
  const { left, right } = (one as Element).getBoundingClientRect();
  return (left + right) / 2;
};

/** The order from the left in which elements stand. */
const fromLeft = (all: readonly Element[]): number[] =>
  all
    .map((one, index) => ({ index, at: middle(one) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ index }) => index);

describe('in a page that is written from the right', () => {
  for (const selectable of [false, true]) {
    it(`languages and features start at the right, ${selectable ? 'each button before its name' : 'as a list'}`, async () => {
      const server = await builder();
      const element = await loaded(
        await fixture<PluginFeaturesElement>(
          html`<plugin-features
            dir="rtl"
            style="inline-size: 900px"
            builder=${server.url()}
            ?selectable=${selectable}
          ></plugin-features>`,
        ),
      );
      expect(fromLeft(parts(element, 'language'))).to.deep.equal([2, 1, 0]);
      expect(fromLeft(parts(element, 'feature'))).to.deep.equal([2, 1, 0]);
      const [name] = parts(element, 'name');
      const [short] = parts(element, 'short');
      expect(middle(name)).to.be.greaterThan(middle(short));
      if (selectable) expect(middle(radios(element)[0])).to.be.greaterThan(middle(name));
      const [first] = parts(element, 'language');
      const gap = element.getBoundingClientRect().right - (first?.getBoundingClientRect().right ?? 0);
      expect(Math.abs(gap)).to.be.lessThan(2);
    });
  }

  it('the error views are mirrored, and stay within their boxes', async () => {
    const server = await editorServer({ path: '/token', status: 403 });
    const parent = place();
    parent.dir = 'rtl';
    parent.style.inlineSize = '320px';
    const editor = create(server);
    parent.append(editor);
    await failure(editor);
    expect(getComputedStyle(part(editor, 'error') as Element).direction).to.equal('rtl');
    expect(editor.scrollWidth).to.equal(editor.clientWidth);

    const features = await builderThat({ status: 404 });
    const element = await fixture<PluginFeaturesElement>(
      html`<plugin-features
        dir="rtl"
        style="inline-size: 900px"
        builder=${features.url()}
      ></plugin-features>`,
    );
    await features.requests({ path: FEATURES, count: 1 });
    await element.refresh().catch(() => {});
    await element.updateComplete;
    expect(middle(retryButton(element))).to.be.greaterThan(middle(element));
  });
});

describe('accessibility of <plugin-features> in the dark', () => {
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
    it(`as a ${selectable ? 'radio group' : 'list'}`, async () => {
      const server = await builder();
      await expect(await loaded(await dark(server.url(), selectable))).to.be.accessible();
    });
  }

  it('in the error view', async () => {
    const server = await builderThat({ status: 404 });
    const element = await dark(server.url(), true);
    await element.refresh().catch(() => {});
    await element.updateComplete;
    expect(parts(element, 'error')).to.have.length(1);
    await expect(element).to.be.accessible();
  });
});
