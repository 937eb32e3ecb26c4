import { expect } from '@open-wc/testing';
import { html, render } from 'lit/html.js';
import { type TestEntry, TestList } from '../../../editor/src/tests/test-list.ts';
import { type TestsHost, testsPanel } from '../../../editor/src/tests/tests-panel.ts';
import type { Work } from '../../../editor/src/pipeline/work.ts';
import { workOf } from '../pipeline/work-of.ts';

describe('the panel of tests', () => {
  let changes = 0;
  let runRequests: string[][] = [];
  let list: TestList;
  let element: HTMLElement;
  let canRun = false;
  let work: Work;
  const host = (): TestsHost => ({
    session: { screen: { draw } },
    access: { canWrite: true },
    document: { tests: list, editor: { goTo: () => {} } },
    types: { schemas: undefined, canCall: false },
    actions: {
      canTest: canRun,
      pipeline: { stop: () => {} },
      runTests: async (entries) => void runRequests.push(entries.map((entry) => list.titleOf(entry))),
    },
    assistance: { isOffered: false, passTest: async () => {}, writeTest: async () => {} },
    dock: {
      focusTest: (entry, selector) => {
        draw();
        const row = entry ? element.querySelector(`.test-row[data-id="${entry.id}"]`) : element;
        row?.querySelector<HTMLElement>(selector)?.focus();
      },
    },
  });
  const draw = () => {
    const tests = list.entries.map((entry) => list.statusOf(entry, work.sourceKey));
    render(html`${testsPanel(host(), { ...work, tests })}`, element);
  };
  const panel = {
    get element() {
      return element;
    },
    get tests() {
      return list.tests;
    },
    set tests(tests) {
      list.tests = tests;
      draw();
    },
  };
  const query = (selector: string) => {
    const found = panel.element.querySelector<HTMLElement>(selector);
    if (!found) throw new Error(`No ${selector}`);
    return found;
  };
  const field = (name: string) => query(`.field.${name}`) as HTMLInputElement | HTMLTextAreaElement;
  const button = (name: string) => {
    const found = [...panel.element.querySelectorAll('button')].find(
      (one) => (one.getAttribute('aria-label') ?? one.textContent?.trim()) === name,
    );
    if (!found) throw new Error(`No button ${name}`);
    return found;
  };
  // Not by `equal` on the elements: to describe where they differ, it would walk the whole page.
  const expectFocus = (expected: Element | undefined) =>
    expect(document.activeElement === expected, document.activeElement?.className).to.equal(true);
  const names = () => panel.tests.map(({ name }) => name);
  const write = (input: HTMLInputElement | HTMLTextAreaElement, text: string) => {
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };

  beforeEach(() => {
    changes = 0;
    runRequests = [];
    canRun = false;
    list = new TestList(() => {
      changes++;
      draw();
    });
    work = workOf();
    element = document.createElement('div');
    document.body.append(element);
    draw();
  });
  afterEach(() => element.remove());

  const three = () => (panel.tests = [{ name: 'a', payload: '1', extra: { kept: true } }, { name: 'b' }, {}]);

  it('returns unchanged tests, and reports no change', () => {
    three();
    expect(panel.tests).to.deep.equal([
      { name: 'a', payload: '1', extra: { kept: true } },
      { name: 'b' },
      {},
    ]);
    expect(changes).to.equal(0);
  });

  it('edits a test and keeps unknown fields', () => {
    three();
    write(field('name'), 'A');
    write(field('description'), 'what');
    write(field('payload'), 'x\ny');
    expect(panel.tests[0]).to.deep.equal({
      name: 'A',
      description: 'what',
      payload: 'x\ny',
      extra: { kept: true },
    });
    expect(panel.tests[1]).to.deep.equal({ name: 'b' });
    expect(changes).to.equal(3);
    expect(query('summary').textContent).to.contain('A');
  });

  it('keeps the line breaks of a payload', () => {
    panel.tests = [{ name: 'a', payload: '1\r\n2' }];
    expect(panel.tests[0]?.payload).to.equal('1\r\n2');
    write(field('payload'), '1\n2\n3');
    expect(panel.tests[0]?.payload).to.equal('1\r\n2\r\n3');
  });

  it('accepts a result with the line breaks that it has, whatever the expected one had', () => {
    for (const result of ['2\r\n3', '2\n3']) {
      panel.tests = [{ name: 'a', expected: '1\r\n2' }];
      list.accept(list.entries[0] as TestEntry, result);
      expect(panel.tests[0]?.['expected']).to.equal(result);
    }
  });

  it('adds a test with a unique name, which is selected for renaming', () => {
    panel.tests = [{ name: 'Test 2' }];
    button('Add test').click();
    expect(names()).to.deep.equal(['Test 2', 'Test 3']);
    expectFocus(panel.element.querySelectorAll('.field.name')[1]);
    expect(changes).to.equal(1);
  });

  it('removes tests, and restores each to its place', () => {
    three();
    button('Remove: a').click();
    button('Remove: b').click();
    expect(names()).to.deep.equal([undefined]);
    expect(document.activeElement?.textContent?.trim()).to.equal('Undo');
    button('Undo').click();
    expect(names()).to.deep.equal(['b', undefined]);
    button('Undo').click();
    expect(panel.tests[0]).to.deep.equal({ name: 'a', payload: '1', extra: { kept: true } });
    expect(names()).to.deep.equal(['a', 'b', undefined]);
    expect(changes).to.equal(4);
  });

  it('moves a test, and the focus with it', () => {
    three();
    query('details').setAttribute('open', '');
    button('Move down: a').focus();
    button('Move down: a').click();
    expect(names()).to.deep.equal(['b', 'a', undefined]);
    expectFocus(button('Move down: a'));
    button('Move down: a').click();
    expect(names()).to.deep.equal(['b', undefined, 'a']);
    expect(button('Move down: a').disabled).to.equal(true);
    expectFocus(button('Move up: a'));
    button('Move up: a').click();
    expect(names()).to.deep.equal(['b', 'a', undefined]);
  });

  it('says that there are no tests', () => {
    expect(query('.tests-empty').hidden).to.equal(false);
    button('Add test').click();
    expect(query('.tests-empty').hidden).to.equal(true);
  });

  it('runs one or all tests if the builder can', () => {
    three();
    expect(panel.element.textContent).not.to.contain('Run all');
    canRun = true;
    draw();
    button('Run: b').click();
    button('Run all').click();
    expect(runRequests).to.deep.equal([['b'], ['a', 'b', 'Test 3']]);
    work = { ...work, action: 'build' };
    draw();
    expect(button('Run all').getAttribute('aria-disabled')).to.equal('true');
  });

  it('shows Stop, not Run, while a test runs', () => {
    three();
    canRun = true;
    work = { ...work, action: 'test', testing: { done: 1, all: 3 } };
    draw();
    expect(button('Stop')).to.be.an.instanceOf(HTMLElement);
    expect(query('.tests-summary').textContent).to.equal('1 of 3 run…');
  });

  it('adds and removes the expected answer of a test', () => {
    three();
    query('details').setAttribute('open', '');
    button('Expect an answer').click();
    expectFocus(query('.field.expected'));
    write(field('expected'), '{"a":1}');
    expect(panel.tests[0]).to.deep.include({ expected: '{"a":1}' });
    button('Remove the expected answer').click();
    expect('expected' in (panel.tests[0] ?? {})).to.equal(false);
  });

  it('shows of each test whether it passed, failed or only ran, and which results are outdated', () => {
    panel.tests = [{ name: 'a', payload: 'x', expected: '1' }, { name: 'b', expected: '1' }, { name: 'c' }];
    for (const [index, entry] of list.entries.entries()) {
      const payload = entry.test.payload ?? '';
      entry.run = { payload, sourceKey: 'now', took: 2, outcome: { result: String(index + 1), logs: [] } };
    }
    draw();
    const outcomes = () =>
      [...element.querySelectorAll<HTMLElement>('.entry-outcome')].map(({ title, dataset }) => [
        title,
        dataset['tone'],
      ]);
    expect(outcomes()).to.deep.equal([
      ['Passed', 'good'],
      ['Failed', 'bad'],
      ['Ran', 'calm'],
    ]);
    expect(query('.tests-summary').textContent).to.equal('1 passed, 1 failed, 1 ran');
    write(field('payload'), 'y');
    expect(outcomes()[0]).to.deep.equal(['Passed before the last change', 'stale']);
  });

  it('is accessible, open and closed', async () => {
    three();
    await expect(panel.element).to.be.accessible();
    for (const one of panel.element.querySelectorAll('details')) one.open = true;
    button('Remove: b').click();
    await expect(panel.element).to.be.accessible();
  });
});
