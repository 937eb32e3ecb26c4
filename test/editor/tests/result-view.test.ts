import { expect } from '@open-wc/testing';
import { html, render } from 'lit/html.js';
import { formatDuration } from '../../../editor/src/locales/formats.ts';
import { differenceView } from '../../../editor/src/pipeline/difference-view.ts';
import type { Run } from '../../../editor/src/pipeline/pipeline.ts';
import { type ResultOptions, resultView } from '../../../editor/src/tests/result-view.ts';
import { until } from '../../support/until.ts';

const run = (outcome: Run['outcome'], payload = 'p'): Run => ({
  payload,
  sourceKey: 'text',
  outcome,
  took: 12.34,
});

let place: HTMLElement;
/** Gives each test of a suite a new place. */
function usePlace() {
  beforeEach(() => {
    place = document.createElement('div');
    document.body.append(place);
  });
  afterEach(() => place.remove());
}

describe('the difference between two texts', () => {
  usePlace();

  const show = (before: string | undefined, after: string | undefined) => {
    render(html`${differenceView(before, after, 'Difference')}`, place);
    return place.querySelector<HTMLElement>('.difference') as HTMLElement;
  };
  const rows = (view: HTMLElement) =>
    [...view.querySelectorAll('p')].map((row) =>
      [...(row.children.length ? row.children : [row])]
        .map(({ textContent }) => textContent?.replaceAll('\u200b', ''))
        .join(''),
    );

  it('shows changed lines with the lines around them, and the change within them', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng';
    const view = show(before, before.replace('d', 'D!'));
    expect(rows(view)).to.deep.equal([' b', ' c', '-Was: d', '+Is: D!', ' e', ' f']);
    expect(view.querySelector('del')?.textContent).to.equal('d');
  });

  it('shows the line between two changes once, and no changed line as unchanged', () => {
    const shown = rows(show('a\nb\nc\nd\ne', 'a\nb!\nc\nd!\ne'));
    expect(shown).to.deep.equal([' a', '-Was: b', '+Is: b!', ' c', '-Was: d', '+Is: d!', ' e']);
  });

  it('separates places that are far apart', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = lines.with(2, 'two').with(15, 'fifteen');
    const shown = rows(show(lines.join('\n'), after.join('\n')));
    expect(shown.filter((row) => row === '…').length).to.equal(1);
  });

  it('handles added lines, removed lines, and the empty text', () => {
    expect(rows(show('', 'x'))).to.include('+Is: x');
    expect(rows(show('a\nb', 'a'))).to.deep.equal([' a', '-Was: b']);
    expect(rows(show('a', 'a\n\nb'))).to.deep.equal([' a', '+Is: ', '+Is: b']);
    expect(rows(show(undefined, 'a\nb'))).to.deep.equal(['+Is: a', '+Is: b']);
    expect(rows(show('a\nb', undefined))).to.deep.equal(['-Was: a', '-Was: b']);
    expect(rows(show('a', ''))).to.deep.equal(['-Was: a', '+Is: ']);
  });

  it('shows characters that are not seen otherwise', () => {
    const shown = rows(show('let a;\r', 'let \u202ea;\u2066\r\n// 👩‍🚀\tנ'));
    expect(shown).to.include('+Is: let \\u{202e}a;\\u{2066}\r');
    expect(shown).to.include('+Is: // 👩‍🚀\tנ');
  });

  it('shows a readable part of long texts', () => {
    const long = (letter: string) => Array.from({ length: 3000 }, () => letter.repeat(3000)).join('\n');
    const view = show(long('a'), long('b'));
    expect(view.children.length).to.be.below(210);
    expect(view.textContent?.length).to.be.below(250_000);
  });
});

describe('the result view', () => {
  usePlace();

  const text = () => place.textContent ?? '';
  const show = async (options: Omit<ResultOptions, 'onJump'>, onJump: ResultOptions['onJump'] = () => {}) => {
    render(html`${resultView({ ...options, onJump })}`, place);
    await place.querySelector('long-text')?.updateComplete;
  };

  it('shows the outcome of a run, its time, its answer and its logs', async () => {
    await show({ run: run({ result: '<b>hi</b>', logs: ['one', 'two'] }) });
    expect(text()).to.match(/Ran.*<b>hi<\/b>.*Logs: 2 entries/s);
    expect(text()).to.contain(formatDuration(12.34));
    await show({ run: run({ error: { code: 'time-limit', message: 'too long' }, logs: [] }) });
    expect(text()).to.match(/Failed.*Error: time-limit.*too long/s);
    await show({ run: run({ result: '', logs: [] }) });
    expect(text()).to.contain('An empty text');
  });

  it('shows whether and where the answer differs from the expected one, and can make it the expected one', async () => {
    const accepted: string[] = [];
    const onAccept = (result: string) => accepted.push(result);
    const result = '{"id":1,"total":-7}';
    await show({ run: run({ result, logs: [] }), expected: '{"total":7,"id":1}', onAccept });
    expect(text()).to.match(/Failed.*total.*7.*-7/s);
    expect(place.querySelectorAll('.json-differences li').length).to.equal(1);
    place.querySelector<HTMLElement>('.accept')?.click();
    expect(accepted).to.deep.equal([result]);
    await show({ run: run({ result, logs: [] }), expected: '{ "total": -7, "id": 1 }', onAccept });
    expect(text()).to.contain('Passed');
    expect(place.querySelector('.accept')).to.equal(null);
    await show({ run: run({ result: 'Hi Ada', logs: [] }), expected: 'Hi Eva', onAccept });
    await until('a removed line', () => !!place.querySelector('del'));
    expect(place.querySelector('ins')?.textContent).to.equal('Ada');
  });

  it('compares the answer with that of the previous run of the same payload, without logs', async () => {
    const first = run({ result: 'one', logs: ['at 12:00'] });
    await show({ run: first });
    expect(text()).not.to.contain('run before');
    await show({ run: run({ result: 'one', logs: ['at 12:01'] }), before: first });
    expect(text()).to.contain('The same as in the run before');
    await show({ run: run({ result: 'two', logs: [] }), before: first });
    await until('a difference', () => !!place.querySelector('.difference'));
    expect(place.querySelector('ins')?.textContent).to.equal('two');
    await show({ run: run({ result: 'two', logs: [] }, 'another payload'), before: first });
    expect(text()).not.to.contain('run before');
  });

  it('shows a long answer whole on request', async () => {
    await show({ run: run({ result: 'x'.repeat(30_000), logs: [] }) });
    expect(place.querySelector('pre')?.textContent?.length).to.equal(20_000);
    place.querySelector<HTMLElement>('long-text button')?.click();
    expect(place.querySelector('pre')?.textContent?.length).to.equal(30_000);
  });

  it('formats an answer that is JSON, and shows it unformatted on request', async () => {
    await show({ run: run({ result: '{"a":[1]}', logs: [] }) });
    expect(place.querySelector('pre')?.textContent).to.equal('{\n  "a": [\n    1\n  ]\n}');
    place.querySelector<HTMLElement>('.text-form')?.click();
    await place.querySelector('long-text')?.updateComplete;
    expect(place.querySelector('pre')?.textContent).to.equal('{"a":[1]}');
  });

  it('says where a value does not fit its type, but not of a value as a whole', async () => {
    const misfit = async (path: string) => {
      const error = { code: 'invalid-output', message: 'It must be an object.', path };
      await show({ run: run({ error, logs: [] }), schemas: { output: { type: 'object' } } });
      return place.querySelector('.misfit-path')?.textContent?.replaceAll(/\s+/g, ' ').trim();
    };
    expect(await misfit('/lines/2/price')).to.equal('Output lines[2].price');
    expect(await misfit('')).to.equal('Output');
    expect(text()).to.match(/Expected:\s+object/);
  });

  it('distinguishes the levels of logs', async () => {
    await show({ run: run({ result: 'x', logs: ['plain', '[warn] careful', '[error] bad'] }) });
    const entries = [...place.querySelectorAll<HTMLElement>('.log-entry')];
    expect(entries.map(({ dataset }) => dataset['level'])).to.deep.equal(['log', 'warn', 'error']);
    expect(entries[1]?.innerText).to.equal('Warningcareful');
  });

  it('leads from a stack trace to the line', async () => {
    const jumps: number[][] = [];
    const message = 'Error: no\n    at run (plugin.ts:3:11)\n    at <anonymous>';
    await show({ run: run({ error: { message }, logs: [] }) }, (...at) => jumps.push(at));
    const link = place.querySelector<HTMLElement>('.place');
    expect(link?.textContent).to.equal('plugin.ts:3:11');
    link?.click();
    expect(jumps).to.deep.equal([[3, 11]]);
    expect(place.querySelector('.trace .verbatim')?.textContent).to.equal(message);
  });

  it('writes times readably', () => {
    // The separator and the digits are those of the user's language.
    const number = (value: number) => new Intl.NumberFormat().format(value);
    expect([3.21, 12.3, 999, 1234].map(formatDuration)).to.deep.equal([
      `${number(3.2)} ms`,
      `${number(12)} ms`,
      `${number(999)} ms`,
      `${number(1.2)} s`,
    ]);
  });
});
