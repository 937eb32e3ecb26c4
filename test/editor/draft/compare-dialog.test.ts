import { expect } from '@open-wc/testing';
import { setViewport } from '@web/test-runner-commands';
import { showCompareDialog } from '../../../editor/src/draft/compare-dialog.ts';
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
