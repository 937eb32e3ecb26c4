import { expect } from '@open-wc/testing';
import { setViewport } from '@web/test-runner-commands';
import type { PluginSource } from 'plugin-editor/client.js';
import { showCompareDialog } from '../../../editor/src/draft/compare-dialog.ts';
import { resolveConflict } from '../../../editor/src/draft/conflict.ts';
import { texts } from '../../../editor/src/locales/locale.ts';
import { until } from '../../support/until.ts';

describe('a comparison in a narrow page', () => {
  before(() => setViewport({ width: 500, height: 600 }));
  after(() => setViewport({ width: 800, height: 600 }));

  it('aligns removed with added lines, and has a button that closes it without a choice', async () => {
    const side = (contents: string) => ({ label: contents, source: { contents, lang: 'javascript' } });
    const choice = showCompareDialog({
      title: 'Compare',
      text: 'Choose.',
      versions: [side('one'), side('two')],
      choices: [{ label: 'Take', value: 1 }],
    });
    const left = (selector: string) => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector(selector) as Element);
      return range.getBoundingClientRect().left;
    };
    await until('the removed line', () => document.querySelector('.cm-deletedLine') !== null);
    expect(left('.cm-deletedLine')).to.equal(left('.cm-line'));
    document.querySelector<HTMLElement>('dialog [aria-label=Close]')?.click();
    expect(await choice).to.equal(undefined);
  });
});

describe('a choice between two edits of a draft', () => {
  const lines = Array.from({ length: 40 }, (_, i) => `const line${i} = ${i};`);
  const source = (...all: string[]): PluginSource => ({
    contents: `${all.join('\n')}\n`,
    lang: 'javascript',
  });
  const base = source(...lines);
  const theirs = source('// theirs', ...lines);
  const press = (name: string) =>
    [...document.querySelectorAll<HTMLElement>('dialog button')]
      .find((one) => (one.ariaLabel ?? one.textContent.trim()) === name)
      ?.click();

  /** Presses a button of the dialog. Returns whether the user has chosen, what replaces the source, and the text of the dialog. */
  const choose = async (mine: PluginSource, name: string, inspect = () => {}) => {
    const replaced: string[] = [];
    const choice = resolveConflict({
      base,
      mine,
      theirs,
      replace: ({ contents }, said) => void replaced.push(contents, said()),
    });
    await until('the sources', () => document.querySelector('dialog .cm-content') !== null);
    const text = document.querySelector('#compare-text')?.textContent;
    inspect();
    press(name);
    return [await choice, replaced, text];
  };

  it('merges edits that do not overlap, and has a sign for folded lines that fonts contain', async () => {
    const merged = source('// theirs', ...lines, '// mine').contents;
    const result = await choose(source(...lines, '// mine'), texts().conflict.merge, () => {
      const folded = document.querySelector('dialog .cm-collapsedLines') as Element;
      const signs = ['::before', '::after'].map((part) => getComputedStyle(folded, part).content);
      expect(signs).to.deep.equal(['"…"', '"…"']);
    });
    expect(result).to.deep.equal([true, [merged, texts().save.merged], texts().conflict.textMerge]);
  });

  it('takes one of two edits that overlap, or none', async () => {
    const mine = source('// mine', ...lines);
    const { conflict, save, common } = texts();
    const results = [
      [conflict.keepMine, true, []],
      [conflict.takeTheirs, true, [theirs.contents, save.tookTheirs]],
      [common.close, false, []],
    ] as const;
    for (const [name, isChosen, replaced] of results)
      expect(await choose(mine, name)).to.deep.equal([isChosen, replaced, conflict.text]);
  });
});
