import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { CodeEditor } from '../../demo/editor/code-editor.ts';

describe('code editor', () => {
  let parent: HTMLElement;
  let editor: CodeEditor;
  let changes = 0;
  let cursor = [0, 0];

  const open = (contents: string, lang = 'typescript') => {
    changes = 0;
    parent = document.createElement('div');
    parent.style.height = '300px';
    const hint = document.createElement('p');
    hint.id = 'hint';
    hint.textContent = 'Esc, then Tab leaves the text';
    const after = document.createElement('button');
    after.textContent = 'after';
    document.body.append(parent, hint, after);
    editor = new CodeEditor({
      parent,
      contents,
      lang,
      label: 'Source of x',
      describedBy: 'hint',
      onChange: () => changes++,
      onCursor: (...at) => (cursor = at),
    });
    return editor;
  };
  const content = () => parent.querySelector<HTMLElement>('.cm-content') as HTMLElement;

  afterEach(() => {
    editor.close();
    document.body.replaceChildren();
  });

  for (const [what, text] of [
    ['line feeds', 'a\nb\n'],
    ['carriage returns and line feeds', 'a\r\nb\r\n'],
    ['mixed line breaks', 'a\r\nb\nc\rd'],
    ['characters without a shape', 'a\0b\u2028c\ud800d\u200e'],
    ['nothing', ''],
  ] as const) {
    it(`gives back a text with ${what} as it came`, () => {
      expect(open(text).contents).to.equal(text);
    });
  }

  it('tells of changes and of the cursor', async () => {
    open('ab\n');
    editor.focus();
    await sendKeys({ press: 'ArrowDown' });
    await sendKeys({ type: 'xy' });
    expect(editor.contents).to.equal('ab\nxy');
    expect(changes).to.be.above(0);
    expect(cursor).to.deep.equal([2, 3]);
  });

  it('writes new lines as the text has them', async () => {
    open('a\r\nb');
    editor.focus();
    await sendKeys({ press: 'Enter' });
    expect(editor.contents).to.equal('\r\na\r\nb');
  });

  it('replaces the text, also by one of another kind', () => {
    open('a');
    editor.replace('b\nc', 'typescript');
    expect(editor.contents).to.equal('b\nc');
    editor.replace('b\r\nc', 'javascript');
    expect(editor.contents).to.equal('b\r\nc');
    expect(changes).to.equal(2);
  });

  it('indents with Tab, and lets go of the focus after Escape', async () => {
    open('a');
    editor.focus();
    await sendKeys({ press: 'Tab' });
    expect(editor.contents).to.equal('  a');
    await sendKeys({ press: 'Escape' });
    await sendKeys({ press: 'Tab' });
    expect(editor.contents).to.equal('  a');
    expect(content().contains(document.activeElement)).to.equal(false);
  });

  it('highlights the languages it knows, types among them', () => {
    const colours = (lang: string) => {
      open('const n: number = 1;', lang);
      return new Set([...content().querySelectorAll('.cm-line span')].map((span) => span.className)).size;
    };
    expect(colours('typescript')).to.be.above(3);
    editor.close();
    document.body.replaceChildren();
    expect(colours('constructor')).to.equal(0);
  });

  it('has a name and a description', async () => {
    open('a');
    expect(content().getAttribute('aria-label')).to.equal('Source of x');
    expect(content().getAttribute('aria-describedby')).to.equal('hint');
    await expect(parent).to.be.accessible({ ignoredRules: ['color-contrast'] });
  });
});
