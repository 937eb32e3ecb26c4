import { expect } from '@open-wc/testing';
import { render } from 'lit/html.js';
import { texts } from '../../../editor/src/locales/locale.ts';
import { Notices } from '../../../editor/src/ui/notices.ts';
import { showLanguageNotice } from '../../../editor/src/workspace/language-notice.ts';
import type { Workspace } from '../../../editor/src/workspace/workspace.ts';

let place: HTMLElement;
let notices: Notices;
const shown = () => [...place.querySelectorAll('.notice p')].map((one) => one.textContent);
const press = (label: string) =>
  [...place.querySelectorAll('button')].find((one) => one.textContent?.trim() === label)?.click();

describe('notices', () => {
  beforeEach(() => {
    place = document.createElement('div');
    document.body.append(place);
    notices = new Notices(() => render(notices.view(), place));
  });
  afterEach(() => place.remove());

  const show = (kind: string, tone: 'alert' | 'note', options = {}) =>
    notices.show(kind, () => ({ tone, text: kind, actions: [notices.dismiss(kind)] }), options);

  it('are in view one at a time: alerts before notes, and the newest first', () => {
    show('an older note', 'note');
    show('a note', 'note');
    expect(shown()).to.deep.equal(['a note']);
    show('an alert', 'alert');
    show('a newer note', 'note');
    expect(shown()).to.deep.equal(['an alert']);
    press('Dismiss');
    expect(shown()).to.deep.equal(['a newer note']);
    press('Dismiss');
    press('Dismiss');
    expect(shown()).to.deep.equal(['an older note']);
  });

  it('that only confirm something replace each other', () => {
    show('one', 'note', { isTransient: true });
    show('another', 'note', { isTransient: true });
    press('Dismiss');
    expect(shown()).to.deep.equal([]);
  });

  it('give the focus back to what had it, once the button that was pressed is gone', () => {
    const field = document.createElement('input');
    place.before(field);
    const focusButton = () => place.querySelector<HTMLElement>('.notice button')?.focus();
    field.focus();
    show('a note', 'note');
    show('an alert', 'alert');
    focusButton();
    press('Dismiss');
    // The next notice is in view, and the user may want its button.
    expect(document.activeElement === field).to.equal(true);
    focusButton();
    press('Dismiss');
    expect(document.activeElement === field).to.equal(true);
    field.remove();
  });

  it('give the focus back also where the notice goes by itself, or another one comes', () => {
    const field = document.createElement('input');
    place.before(field);
    const focusButton = () => place.querySelector<HTMLElement>('.notice button')?.focus();
    const hasFocus = () => document.activeElement === field;
    field.focus();
    show('a note', 'note');
    focusButton();
    show('an older kind', 'note', { isTransient: true });
    expect(hasFocus()).to.equal(true);
    focusButton();
    notices.hide('a note');
    expect(hasFocus()).to.equal(false);
    notices.hide('an older kind');
    expect(hasFocus()).to.equal(true);
    field.remove();
  });

  it('leave the focus where the action of a button brought it', () => {
    const [before, after] = [document.createElement('input'), document.createElement('input')];
    place.before(before, after);
    before.focus();
    const run = () => {
      notices.hide('a note');
      after.focus();
    };
    notices.show('a note', () => ({ tone: 'note', text: 'a note', actions: [{ label: 'Go', run }] }));
    place.querySelector<HTMLElement>('.notice button')?.focus();
    press('Go');
    expect(document.activeElement === after).to.equal(true);
    before.remove();
    after.remove();
  });

  it('about another language last until the draft has it, and do not come back once dismissed', () => {
    let handleLanguage = () => {};
    const open = () => {
      notices.hide('language');
      const access = { canWrite: true };
      const on = (_: string, listener: () => void) => (handleLanguage = listener);
      const workspace = { session: { notices }, access, document: { language: 'typescript', on } };
      showLanguageNotice(workspace as unknown as Workspace, 'assemblyscript');
    };
    const text = texts().language.stays('AssemblyScript', 'TypeScript');
    open();
    expect(shown()).to.deep.equal([text]);
    // A version in that language was brought back.
    handleLanguage();
    expect(shown()).to.deep.equal([]);
    open();
    expect(shown()).to.deep.equal([text]);
    press('Dismiss');
    open();
    expect(shown()).to.deep.equal([]);
  });
});
