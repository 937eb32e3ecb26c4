import { expect } from '@open-wc/testing';
import { TestsPanel } from '../../../editor/src/pipeline/tests-panel.ts';

describe('tests panel', () => {
  let changes = 0;
  let asked: string[][] = [];
  let panel: TestsPanel;
  const query = (selector: string) => {
    const found = panel.element.querySelector<HTMLElement>(selector);
    if (!found) throw new Error(`No ${selector}`);
    return found;
  };
  const field = (name: string) => query(`.field.${name}`) as HTMLInputElement | HTMLTextAreaElement;
  const button = (name: string) => {
    const found = [...panel.element.querySelectorAll('button')].find(
      (one) => (one.getAttribute('aria-label') ?? one.textContent) === name,
    );
    if (!found) throw new Error(`No button ${name}`);
    return found;
  };
  const names = () => panel.tests.map(({ name }) => name);
  const write = (input: HTMLInputElement | HTMLTextAreaElement, text: string) => {
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };

  beforeEach(() => {
    changes = 0;
    asked = [];
    panel = new TestsPanel({
      onChange: () => changes++,
      onRun: (items) => asked.push(items.map(({ title }) => title)),
    });
    document.body.append(panel.element);
  });
  afterEach(() => panel.element.remove());

  const three = () => (panel.tests = [{ name: 'a', payload: '1', extra: { kept: true } }, { name: 'b' }, {}]);

  it('gives back what it was given, and counts that as no change', () => {
    three();
    expect(panel.tests).to.deep.equal([
      { name: 'a', payload: '1', extra: { kept: true } },
      { name: 'b' },
      {},
    ]);
    expect(changes).to.equal(0);
  });

  it('edits a test and keeps fields that it does not know', () => {
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

  it('adds a test with a name of its own, ready to be named', () => {
    panel.tests = [{ name: 'Test 2' }];
    button('Add test').click();
    expect(names()).to.deep.equal(['Test 2', 'Test 3']);
    expect(document.activeElement).to.equal(panel.element.querySelectorAll('.field.name')[1]);
    expect(changes).to.equal(1);
  });

  it('removes a test, and brings it back where it was', () => {
    three();
    button('Remove: a').click();
    expect(names()).to.deep.equal(['b', undefined]);
    expect(document.activeElement?.textContent).to.equal('Undo');
    button('Undo').click();
    expect(panel.tests[0]).to.deep.equal({ name: 'a', payload: '1', extra: { kept: true } });
    expect(changes).to.equal(2);
  });

  it('moves a test, and the focus stays on its way', () => {
    three();
    query('details').setAttribute('open', '');
    button('Move down: a').focus();
    button('Move down: a').click();
    expect(names()).to.deep.equal(['b', 'a', undefined]);
    expect(document.activeElement).to.equal(button('Move down: a'));
    button('Move down: a').click();
    expect(names()).to.deep.equal(['b', undefined, 'a']);
    expect(button('Move down: a').disabled).to.equal(true);
    expect(document.activeElement).to.equal(button('Move up: a'));
    button('Move up: a').click();
    expect(names()).to.deep.equal(['b', 'a', undefined]);
  });

  it('says so when there are none', () => {
    expect(query('.tests-empty').hidden).to.equal(false);
    button('Add test').click();
    expect(query('.tests-empty').hidden).to.equal(true);
  });

  it('runs one or all, where the builder can', () => {
    three();
    expect(button('Run all').hidden).to.equal(true);
    expect(button('Run: a').hidden).to.equal(true);
    panel.runs = { offered: true, busy: false };
    button('Run: b').click();
    button('Run all').click();
    expect(asked).to.deep.equal([['b'], ['a', 'b', 'Test 3']]);
    panel.runs = { offered: true, busy: true };
    expect(button('Run all').getAttribute('aria-disabled')).to.equal('true');
  });

  it('is accessible, open and closed', async () => {
    three();
    await expect(panel.element).to.be.accessible();
    for (const one of panel.element.querySelectorAll('details')) one.open = true;
    button('Remove: b').click();
    await expect(panel.element).to.be.accessible();
  });
});
