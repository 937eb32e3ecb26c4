import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import '../../../editor/src/types/json-field.ts';
import type { JsonField } from '../../../editor/src/types/json-field.ts';
import { eventually, until } from '../../support/until.ts';

const schema = {
  type: 'object',
  required: ['count'],
  additionalProperties: false,
  properties: {
    count: { type: 'integer', description: 'How many there are' },
    buyer: { enum: ['retail', 'trade'] },
    gift: { type: 'boolean' },
  },
};

describe('a field for JSON', () => {
  let field: JsonField;
  let changes: string[];
  const content = () => field.querySelector<HTMLElement>('.cm-content');
  const problems = () =>
    [...field.querySelectorAll('.json-problem')].map((one) => one.textContent?.trim() ?? '');
  const marked = () => [...field.querySelectorAll('.cm-lintRange-error')].map((one) => one.textContent);
  const options = () =>
    [...field.querySelectorAll('.cm-tooltip-autocomplete li .cm-completionLabel')].map(
      (one) => one.textContent,
    );

  const option = () => field.querySelector<HTMLElement>('.cm-tooltip-autocomplete li');

  beforeEach(async () => {
    changes = [];
    field = document.createElement('json-field');
    Object.assign(field, { fieldId: 'one', label: 'Payload', schema });
    field.addEventListener('input', () => changes.push(field.value));
    document.body.append(field);
    await field.updateComplete;
  });
  afterEach(() => field.remove());

  const set = async (value: string) => {
    field.value = value;
    await field.updateComplete;
  };

  it('marks a mistake at its place, and explains it below', async () => {
    await set('{"count": 1}');
    expect(problems()).to.deep.equal([]);
    await set('{"count": "x", "colour": 1}');
    await until('two problems', () => problems().length === 2);
    expect(problems()).to.deep.equal(['count must be integer', 'colour is not known here']);
    expect(marked()).to.deep.equal(['"x"', '1']);
    expect(content()?.getAttribute('aria-invalid')).to.equal('true');
    expect(content()?.getAttribute('aria-describedby')).to.equal('one-problems');
    await set('{"count": ');
    await until('a problem of syntax', () => !!problems()[0]?.startsWith('This is not JSON'));
    await set('');
    await until('no problem', () => problems().length === 0);
    expect(content()?.getAttribute('aria-invalid')).to.equal('false');
    // What is set from outside is no input.
    expect(changes).to.deep.equal([]);
  });

  it('shows the mistakes that the service reported for this text, unless it finds some itself', async () => {
    await set('{"count": 1}');
    field.serviceProblem = { path: ['count'], message: 'is sold out' };
    await until('one problem', () => problems().length === 1);
    expect(problems()).to.deep.equal(['count is sold out']);
    expect(marked()).to.deep.equal(['1']);
  });

  it('completes missing names and values, and Tab leaves it', async () => {
    // Without anything else that takes the focus, Tab would come back to the field.
    const next = document.createElement('button');
    field.after(next);
    await set('{"count": 1, }');
    field.focus();
    await sendKeys({ press: 'End' });
    await sendKeys({ press: 'ArrowLeft' });
    await sendKeys({ down: 'Control' });
    await sendKeys({ press: ' ' });
    await sendKeys({ up: 'Control' });
    await until('two options', () => options().length === 2);
    expect(options()).to.deep.equal(['"buyer"', '"gift"']);
    (await eventually(option, (found) => !!found))?.dispatchEvent(
      new MouseEvent('mousedown', { bubbles: true, cancelable: true }),
    );
    await until('the completed name', () => field.value.includes('"buyer": ""'));
    await sendKeys({ type: 't' });
    await until('the values as options', () => options().includes('"trade"'));
    expect(changes.at(-1)).to.equal(field.value);
    await sendKeys({ press: 'Escape' });
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement === content()).to.equal(false);
    expect(field.value).not.to.include('\t');
    next.remove();
  });

  it('leaves the wheel to the panel around it', async () => {
    const scroller = field.querySelector('.cm-scroller') as Element;
    expect(getComputedStyle(scroller).overscrollBehaviorY).to.equal('auto');
  });

  it('shows and changes nothing more once it is read-only or removed', async () => {
    field.isReadOnly = true;
    await set('{"count": 1}');
    field.focus();
    await sendKeys({ type: 'x' });
    expect(field.value).to.equal('{"count": 1}');
    field.remove();
    document.body.append(field);
    await until('the new value', () => content()?.textContent === '{"count": 1}');
  });
});
