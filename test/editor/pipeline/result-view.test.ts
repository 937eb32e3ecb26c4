import { expect, waitUntil } from '@open-wc/testing';
import { differenceView } from '../../../editor/src/pipeline/difference-view.ts';
import type { Run } from '../../../editor/src/pipeline/pipeline.ts';
import { ResultView, duration } from '../../../editor/src/pipeline/result-view.ts';

const run = (answer: Run['answer'], payload = 'p'): Run => ({
  payload,
  sourceKey: 'text',
  answer,
  took: 12.34,
});
const rows = (view: HTMLElement) =>
  [...view.querySelectorAll('p')].map((row) => row.textContent?.replaceAll('\u200b', ''));

describe('difference', () => {
  it('shows the lines that changed with the lines around them, and within them what changed', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng';
    const view = differenceView(before, before.replace('d', 'D!'));
    expect(rows(view)).to.deep.equal([' b', ' c', '−Was: d', '+Is: D!', ' e', ' f']);
    expect(view.querySelector('del')?.textContent).to.equal('d');
  });

  it('tells places far from each other apart', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = lines.with(2, 'two').with(15, 'fifteen');
    expect(
      rows(differenceView(lines.join('\n'), after.join('\n'))).filter((row) => row === '⋯').length,
    ).to.equal(1);
  });

  it('knows lines that came, went, and the empty text', () => {
    expect(rows(differenceView('', 'x'))).to.include('+Is: x');
    expect(rows(differenceView('a\nb', 'a'))).to.deep.equal([' a', '−Was: b']);
    expect(rows(differenceView('a', 'a\n\nb'))).to.deep.equal([' a', '+Is: ', '+Is: b']);
  });

  it('shows of long texts what one can read', () => {
    const long = (letter: string) => Array.from({ length: 3000 }, () => letter.repeat(3000)).join('\n');
    const view = differenceView(long('a'), long('b'));
    expect(view.children.length).to.be.below(210);
    expect(view.textContent?.length).to.be.below(250_000);
  });
});

describe('result view', () => {
  let view: ResultView;
  const text = () => view.element.textContent ?? '';
  beforeEach(() => {
    view = new ResultView();
    document.body.append(view.element);
  });
  afterEach(() => view.element.remove());

  it('says whether a run passed, how long it took, what it answered and logged', () => {
    view.show(run({ result: '<b>hi</b>', logs: ['one', 'two'] }));
    expect(text()).to.match(/Passed.*<b>hi<\/b>.*Logs: 2 entries/s);
    expect(text()).to.contain(duration(12.34));
    view.show(run({ error: { code: 'time-limit', message: 'too long' }, logs: [] }));
    expect(text()).to.match(/Failed.*Error: time-limit.*too long/s);
    view.show(run({ result: '', logs: [] }));
    expect(text()).to.contain('The empty text');
  });

  it('compares with the run before, its logs and its error too', async () => {
    view.show(run({ result: 'one', logs: ['log'] }));
    expect(text()).not.to.contain('run before');
    view.show(run({ result: 'one', logs: ['log'] }));
    expect(text()).to.contain('The same as in the run before');
    view.show(run({ result: 'one', logs: ['other log'] }, 'another'));
    await waitUntil(() => view.element.querySelector('.difference'));
    expect(text()).to.contain('its payload was another');
    expect(view.element.querySelector('ins')?.textContent).to.contain('other');
  });

  it('shows a long answer whole when asked', () => {
    view.show(run({ result: 'x'.repeat(30_000), logs: [] }));
    expect(view.element.querySelector('pre')?.textContent?.length).to.equal(20_000);
    view.element.querySelector('button')?.click();
    expect(view.element.querySelector('pre')?.textContent?.length).to.equal(30_000);
  });

  it('writes times as one reads them', () => {
    // The separator and the digits are those of the user's language.
    const number = (value: number) => new Intl.NumberFormat().format(value);
    expect([3.21, 12.3, 999, 1234].map(duration)).to.deep.equal([
      `${number(3.2)} ms`,
      `${number(12)} ms`,
      `${number(999)} ms`,
      `${number(1.2)} s`,
    ]);
  });
});
