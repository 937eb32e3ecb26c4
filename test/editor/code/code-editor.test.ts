import { expect } from '@open-wc/testing';
import { resetMouse, sendKeys, sendMouse } from '@web/test-runner-commands';
import { redo, undo } from '@codemirror/commands';
import { ensureSyntaxTree } from '@codemirror/language';
import { forEachDiagnostic } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { CodeEditor, type KeptText, type TestsChange } from '../../../editor/src/code/code-editor.ts';
import { loadTypingHelp } from '../../../editor/src/code/languages.ts';
import { problemFix } from '../../../editor/src/code/problems.ts';
import { texts } from '../../../editor/src/locales/locale.ts';
import { settings } from '../../../editor/src/ui/settings.ts';
import { COMPOSED_ENTERS } from '../../support/composed-enters.ts';
import { until } from '../../support/until.ts';

describe('code editor', () => {
  let parent: HTMLElement;
  let editor: CodeEditor;
  let changes = 0;
  let saves = 0;
  let tests: TestsChange[] = [];

  const open = (contents: string, lang = 'typescript', kept?: KeptText, onSave = () => void saves++) => {
    changes = 0;
    saves = 0;
    tests = [];
    parent = document.createElement('div');
    parent.style.height = '300px';
    const hint = document.createElement('p');
    hint.id = 'hint';
    hint.textContent = 'Esc, then Tab leaves the text';
    const after = document.createElement('button');
    after.textContent = 'after';
    document.body.append(parent, hint, after);
    editor = new CodeEditor({
      contents,
      lang,
      kept,
      label: () => 'Source of x',
      isReadOnly: false,
      describedBy: 'hint',
    });
    editor.on('edit', () => changes++);
    editor.on('tests', (change) => tests.push(change));
    editor.on('save', onSave);
    parent.append(editor.element);
    return editor;
  };
  const content = () => parent.querySelector<HTMLElement>('.cm-content') as HTMLElement;

  // These tests are about a text with all that belongs to it; typing-help.test.ts is about one that is shown before.
  before(() => loadTypingHelp());
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
    it(`returns a text with ${what} unchanged`, () => {
      expect(open(text).contents).to.equal(text);
    });
  }

  it('reports changes and the cursor', async () => {
    open('ab\n');
    editor.focus();
    await sendKeys({ press: 'ArrowDown' });
    await sendKeys({ type: 'xy' });
    expect(editor.contents).to.equal('ab\nxy');
    expect(changes).to.be.above(0);
    expect(editor.cursor).to.deep.equal({ line: 2, column: 3 });
  });

  it('inserts line breaks of the kind that the text has', async () => {
    open('a\r\nb');
    editor.focus();
    await sendKeys({ press: 'Enter' });
    expect(editor.contents).to.equal('\r\na\r\nb');
    // Language help and Vim insert texts with line feeds.
    const view = EditorView.findFromDOM(editor.element) as EditorView;
    view.dispatch({ changes: { from: 0, insert: view.state.toText('x\ny') } });
    expect(editor.contents).to.equal('x\r\ny\r\na\r\nb');
  });

  it('replaces the text, also by one with other line breaks', () => {
    open('a');
    editor.replace('b\nc', 'typescript');
    expect(editor.contents).to.equal('b\nc');
    editor.replace('b\r\nc', 'typescript');
    expect(editor.contents).to.equal('b\r\nc');
    editor.run(undo);
    expect(editor.contents).to.equal('b\nc');
    editor.run(redo);
    expect(editor.contents).to.equal('b\r\nc');
    editor.replace('b\r\nc', 'javascript');
    expect(editor.contents).to.equal('b\r\nc');
    expect(changes).to.equal(5);
    expect(editor.cursor).to.deep.equal({ line: 1, column: 1 });
  });

  it('reports that undo changed the tests of an empty text', () => {
    open('');
    const [before, after] = [[], [{ name: 'new' }]];
    editor.replace('', 'typescript', { before, after });
    changes = 0;
    editor.run(undo);
    expect([tests, changes]).to.deep.equal([[{ before: after, after: before }], 1]);
  });

  it('indents with Tab, and releases the focus after Escape', async () => {
    open('a');
    editor.focus();
    await sendKeys({ press: 'Tab' });
    expect(editor.contents).to.equal('  a');
    // The next key must come within two seconds. The driver, outside the browser, may need longer.
    const { now } = Date;
    const time = now();
    Date.now = () => time;
    try {
      await sendKeys({ press: 'Escape' });
      await sendKeys({ press: 'Tab' });
    } finally {
      Date.now = now;
    }
    expect(editor.contents).to.equal('  a');
    expect(content().contains(document.activeElement)).to.equal(false);
  });

  it('lets Tab pass through that brought the focus, until another key shows that the text is meant', async () => {
    open('a');
    const outside = (name: string) => {
      const button = document.createElement('button');
      button.id = name;
      return button;
    };
    document.body.prepend(outside('first'));
    document.body.append(outside('last'));
    document.getElementById('first')?.focus();
    await sendKeys({ press: 'Tab' });
    expect(document.activeElement).to.equal(content());
    await sendKeys({ press: 'Tab' });
    expect(editor.contents).to.equal('a');
    expect(document.activeElement).not.to.equal(content());
    await sendKeys({ down: 'Shift' });
    await sendKeys({ press: 'Tab' });
    await sendKeys({ up: 'Shift' });
    expect(document.activeElement).to.equal(content());
    await sendKeys({ press: 'ArrowRight' });
    await sendKeys({ press: 'Tab' });
    expect(editor.contents).to.equal('  a');
  });

  describe('after a Tab that has led out of the page', () => {
    beforeEach(async () => {
      open('a');
      const last = document.createElement('button');
      // The keys of a frame are not heard in the page around it.
      const frame = document.createElement('iframe');
      frame.srcdoc = '<button>in the frame</button>';
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.prepend(last, frame);
      await loaded;
      last.focus();
      await sendKeys({ press: 'Tab' });
      expect(document.activeElement).to.equal(frame);
    });

    it('indents with Tab once the text is clicked', async () => {
      const { x, y } = content().getBoundingClientRect();
      await sendMouse({ type: 'click', position: [Math.round(x) + 11, Math.round(y) + 20] });
      await sendKeys({ press: 'Tab' });
      expect(editor.contents).to.equal('  a');
    });

    it('indents with Tab once the page has focused the text', async () => {
      editor.goTo(1, 1);
      expect(document.activeElement).to.equal(content());
      await sendKeys({ press: 'Tab' });
      expect(editor.contents).to.equal('  a');
    });
  });

  it('has its history again when the same text is opened again, and not with another', async () => {
    open('a');
    editor.focus();
    await sendKeys({ type: 'x' });
    const kept = editor.keep();
    editor.close();
    open('xa', 'typescript', kept);
    editor.run(undo);
    expect(editor.contents).to.equal('a');
    editor.close();
    open('another', 'typescript', kept);
    editor.run(undo);
    expect(editor.contents).to.equal('another');
  });

  it('indents what wraps like its line, whose indentation may be tabs', () => {
    settings.change({ wrap: true });
    try {
      for (const indentation of ['    ', '\t', ' \t']) {
        open(`${indentation}${'word '.repeat(200)}`);
        parent.style.setProperty('--mono', 'monospace');
        const view = EditorView.findFromDOM(editor.element) as EditorView;
        const first = view.coordsAtPos(indentation.length);
        const last = view.coordsAtPos(view.moveToLineBoundary(view.state.selection.main, true).head, 1);
        expect(last?.top).to.be.above(first?.top ?? 0);
        expect(last?.left).to.be.closeTo(first?.left ?? 0, 1);
        editor.close();
        document.body.replaceChildren();
      }
      open('');
    } finally {
      settings.change({ wrap: false });
    }
  });

  it('is saved by :w of Vim', async () => {
    settings.change({ vim: true });
    try {
      open('one two');
      await until('the keys', () => parent.querySelector('.cm-vim-panel') !== null);
      editor.focus();
      await sendKeys({ type: ':w' });
      expect(saves).to.equal(0);
      await sendKeys({ press: 'Enter' });
      expect(saves).to.equal(1);
    } finally {
      settings.change({ vim: false });
    }
  });

  it('is saved by :w of Vim where another text was opened and closed meanwhile', async () => {
    settings.change({ vim: true });
    try {
      const first = open('one');
      const firstParent = parent;
      await until('the keys', () => firstParent.querySelector('.cm-vim-panel') !== null);
      open('two', 'typescript', undefined, () => expect.fail('It is closed.'));
      await until('the keys of the other', () => parent.querySelector('.cm-vim-panel') !== null);
      editor.close();
      editor = first;
      editor.focus();
      await sendKeys({ type: ':w' });
      await sendKeys({ press: 'Enter' });
      expect(saves).to.equal(1);
    } finally {
      settings.change({ vim: false });
    }
  });

  it('takes back a whole command of Vim, and what replaces the text without what is typed before and after it', async () => {
    const { now } = Date;
    settings.change({ vim: true });
    try {
      open('one two');
      await until('the keys', () => parent.querySelector('.cm-vim-panel') !== null);
      editor.focus();
      await sendKeys({ type: 'ciwuno' });
      await sendKeys({ press: 'Escape' });
      expect(editor.contents).to.equal('uno two');
      await sendKeys({ type: 'u' });
      expect(editor.contents).to.equal('one two');
      await sendKeys({ type: 'xx' });
      await sendKeys({ type: 'u' });
      expect(editor.contents).to.equal('ne two');
      await sendKeys({ type: 'ia' });
      editor.replace('b\r\nc', 'typescript');
      editor.replace('d\ne', 'typescript');
      for (const contents of ['b\r\nc', 'ane two', 'ne two']) {
        editor.run(undo);
        expect(editor.contents).to.equal(contents);
      }
      await sendKeys({ press: 'Escape' });
      await sendKeys({ type: 'i' });
      editor.replace('f', 'typescript');
      // What is typed soon after a change is undone with it without Vim, too.
      Date.now = () => now() + 1000;
      await sendKeys({ type: 'g' });
      editor.run(undo);
      expect(editor.contents).to.equal('f');
    } finally {
      Date.now = now;
      settings.change({ vim: false });
    }
  });

  it('highlights the known languages, types among them', async () => {
    const colours = () =>
      new Set([...content().querySelectorAll('.cm-line span')].map((span) => span.className)).size;
    open('const n: number = 1;', 'typescript');
    // On a busy machine the text is parsed in more than one go.
    await until('colours', () => colours() > 3);
    editor.close();
    document.body.replaceChildren();
    open('const n: number = 1;', 'constructor');
    expect(colours()).to.equal(0);
  });

  const error = (line: number, column: number, message = 'wrong') => ({
    line,
    column,
    message,
    severity: 'error',
  });

  it('marks problems in the gutter and in the text, and moves the marks with the text', async () => {
    const text = 'const a = 1;\nconst bad = 2;\n';
    open(text);
    editor.mark('build', [error(2, 7, 'Not good')], text);
    expect(parent.querySelector('.cm-lintRange-error')?.textContent).to.equal('bad');
    expect(parent.querySelectorAll('.cm-lint-marker-error').length).to.equal(1);
    const found = { line: 2, column: 7, message: 'Not good', severity: 'error', finder: 'build' };
    expect(editor.problems).to.deep.equal([found]);
    editor.focus();
    await sendKeys({ press: 'Enter' });
    expect(editor.problems).to.deep.equal([{ ...found, line: 3 }]);
  });

  it('says when the cursor or the problems have changed', () => {
    const text = 'a\nb';
    open(text);
    const seen: unknown[] = [];
    editor.on('state', () => seen.push([editor.cursor.line, editor.problems.length]));
    editor.goTo(2, 1);
    editor.mark('check', [error(1, 1)], text);
    editor.replace('c', 'javascript');
    expect(seen).to.deep.equal([
      [2, 0],
      [2, 1],
      [1, 0],
    ]);
  });

  /** A starved machine takes longer than the time that marking gives the parser, which goes on where it stopped. */
  const parseAll = (text: string) => {
    const { state } = EditorView.findFromDOM(parent) as EditorView;
    while (!ensureSyntaxTree(state, text.length, 1000));
  };

  it('marks all that a problem is about', async () => {
    const text = 'f(1, order.buyer());\nlet n = "a b".length;\n';
    open(text);
    await editor.markSyntax();
    parseAll(text);
    const found = [
      error(1, 6, "Argument of type 'string' is not assignable to parameter of type 'number'."),
      error(2, 9, 'Type mismatch'),
      error(2, 5, 'Type mismatch'),
    ];
    const marked = () =>
      [...parent.querySelectorAll('.cm-lintRange-error')].map((one) => one.textContent).join('|');
    editor.mark('check', found, text);
    expect(marked()).to.equal('order.buyer()|n|"a b"');
    editor.mark('check', [error(1, 6, "Cannot find name 'order'.")], text);
    expect(marked()).to.equal('order');
  });

  it('marks all that a problem is about where the text is out of view', async () => {
    const text = `${'let n = 1;\n'.repeat(300)}f(1, order.buyer());\n`;
    open(text);
    await editor.markSyntax();
    parseAll(text);
    editor.mark('check', [error(301, 6)], text);
    const marked: string[] = [];
    const { state } = EditorView.findFromDOM(parent) as EditorView;
    forEachDiagnostic(state, (_, from, to) => marked.push(state.sliceDoc(from, to)));
    expect(marked).to.deep.equal(['order.buyer()']);
  });

  it('replaces only marks of the same finder', async () => {
    const text = 'one\ntwo\n';
    open(text);
    editor.mark('build', [error(1, 1, 'b')], text);
    editor.mark('check', [error(2, 1, 'c'), error(99, 99, 'past the end')], text);
    expect(editor.problems.map(({ message }) => message)).to.deep.equal(['b', 'c', 'past the end']);
    editor.mark('build', [], text);
    expect(editor.problems.map(({ message }) => message)).to.deep.equal(['c', 'past the end']);
    editor.mark('check', [error(1, 1)], 'another text');
    expect(editor.problems.map(({ message }) => message)).to.deep.equal(['c', 'past the end']);
  });

  it('keeps the message of a problem open when the same is found once more', async () => {
    const text = 'ordrs';
    open(text);
    editor.mark('check', [error(1, 1, 'no such name')], text);
    const mark = parent.querySelector('.cm-lintRange-error') as HTMLElement;
    const { x, y, width, height } = mark.getBoundingClientRect();
    await sendMouse({ type: 'move', position: [Math.round(x + width / 2), Math.round(y + height / 2)] });
    await until('the message', () => document.querySelector('.cm-diagnostic') !== null);
    const shown = document.querySelector('.cm-diagnostic');
    editor.mark('check', [error(1, 1, 'no such name')], text);
    expect(shown?.isConnected).to.equal(true);
    editor.mark('check', [error(1, 1, 'another')], text);
    expect(shown?.isConnected).to.equal(false);
    await resetMouse();
  });

  it('leaves no mark in the gutter for deleted text', async () => {
    open('bad');
    editor.mark('check', [error(1, 1)], 'bad');
    editor.focus();
    for (let count = 0; count < 3; count++) await sendKeys({ press: 'Delete' });
    editor.mark('check', [], '');
    await until('a gutter without marks', () => !parent.querySelector('.cm-lint-marker-error'));
    expect(editor.problems).to.deep.equal([]);
  });

  it('fixes a problem from its message at the place that it has moved to', async () => {
    const text = 'const a = 1;\nconst bad = 2;\n';
    open(text);
    const fixed: number[] = [];
    const fix = (view: EditorView) => fixed.push(view.state.selection.main.head) > 0;
    editor.addLanguageHelp(() => problemFix.of({ label: () => 'Fix', run: fix }));
    editor.mark('build', [error(2, 7)], text);
    editor.focus();
    await sendKeys({ type: '12' });
    // A check of the text as it is keeps the marks of the build.
    editor.mark('check', [error(1, 1)], editor.contents);
    const mark = [...parent.querySelectorAll('.cm-lintRange-error')].find((one) => one.textContent === 'bad');
    const { x, y, width, height } = (mark as HTMLElement).getBoundingClientRect();
    await sendMouse({ type: 'move', position: [Math.round(x + width / 2), Math.round(y + height / 2)] });
    const button = () => document.querySelector<HTMLElement>('.cm-diagnostic .problem-fix');
    await until('the button', () => button() !== null);
    button()?.click();
    expect(fixed).to.deep.equal([editor.contents.indexOf('bad')]);
    await resetMouse();
  });

  describe('search', () => {
    const field = (name: string) => parent.querySelector<HTMLInputElement>(`.find [name=${name}]`);
    const button = (name: string) =>
      [...parent.querySelectorAll<HTMLElement>('.find button')].find(
        (one) => (one.getAttribute('aria-label') ?? one.textContent.trim()) === name,
      );
    const find = (text: string) => {
      const input = field('search') as HTMLInputElement;
      input.value = text;
      input.dispatchEvent(new Event('input'));
    };
    const status = () => parent.querySelector('.find-count')?.textContent;

    it('replaces nothing, and does not say so, where the pattern is empty or wrong', async () => {
      open('a (a)');
      await editor.openSearch({ replace: true });
      button(texts().find.replaceAll)?.click();
      expect(status()).to.equal('');
      button(texts().find.regexp)?.click();
      find('(');
      button(texts().find.replaceAll)?.click();
      expect(status()).to.equal(texts().find.wrong);
      find('a');
      button(texts().find.replaceAll)?.click();
      expect(status()).to.equal(texts().find.replaced('2'));
      expect(editor.contents).to.equal(' ()');
    });

    it('says no longer how many were replaced once that is undone', async () => {
      open('a a');
      await editor.openSearch({ replace: true });
      find('a');
      button(texts().find.replaceAll)?.click();
      expect(status()).to.equal(texts().find.replaced('2'));
      editor.run(undo);
      expect(editor.contents).to.equal('a a');
      expect(status()).to.equal(texts().find.all('2'));
    });

    it('replaces nothing by the Enter that ends the composition of a character', async () => {
      open('a a');
      await editor.openSearch({ replace: true });
      find('a');
      const press = (key: KeyboardEventInit) =>
        field('replace')?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...key }));
      // The first one selects a match.
      press({ key: 'Enter' });
      COMPOSED_ENTERS.forEach(press);
      expect(editor.contents).to.equal('a a');
      press({ key: 'Enter' });
      expect(editor.contents).to.equal(' a');
    });

    it('searches for what is selected, also while it is open', async () => {
      open('one two');
      await editor.openSearch({ replace: false });
      find('one');
      EditorView.findFromDOM(content())?.dispatch({ selection: { anchor: 4, head: 7 } });
      editor.focus();
      await editor.openSearch({ replace: false });
      expect(field('search')?.value).to.equal('two');
      expect(document.activeElement).to.equal(field('search'));
    });

    it('offers no replacement once the text can no longer be changed', async () => {
      open('a');
      await editor.openSearch({ replace: true });
      expect(field('replace')).not.to.equal(null);
      editor.isReadOnly = true;
      expect(field('replace')).to.equal(null);
    });
  });

  it('goes to a place, and from problem to problem', async () => {
    const text = 'one\ntwo\nthree\n';
    open(text);
    editor.goTo(3, 2);
    expect(editor.cursor).to.deep.equal({ line: 3, column: 2 });
    editor.mark('build', [error(1, 1), error(2, 2, 'The second problem')], text);
    const lines: (number | undefined)[] = [];
    for (const by of [1, 1, 1, -1] as const) {
      editor.goToProblem(by);
      lines.push(editor.cursor.line);
    }
    // Around the end, and back.
    expect(lines).to.deep.equal([1, 2, 1, 2]);
    // A screen reader says what the problem is.
    expect(parent.querySelector('.cm-announced')?.textContent).to.contain('The second problem');
  });

  for (const vim of [false, true]) {
    it(`closes the message of a problem with Escape${vim ? ', in Vim mode, too' : ''}`, async () => {
      settings.change({ vim });
      try {
        open('one\n');
        if (vim) await until('the keys', () => parent.querySelector('.cm-vim-panel') !== null);
        editor.mark('build', [error(1, 1)], 'one\n');
        editor.focus();
        const message = () => parent.querySelector('.cm-tooltip-lint');
        editor.goToProblem(1);
        await until('the message', () => message() !== null);
        await sendKeys({ press: 'Escape' });
        expect(message()).to.equal(null);
      } finally {
        settings.change({ vim: false });
      }
    });
  }

  it('finds syntax errors by itself, once for each line', async () => {
    open('const a = ;\nlet b = 2;\nfoo(((;\n');
    // A text that takes longer than 100 ms to parse has none, and on a busy machine even this one may.
    await until('problems of syntax', async () => {
      await editor.markSyntax();
      return editor.problems.length > 0;
    });
    expect(editor.problems.map(({ line, finder }) => [line, finder])).to.deep.equal([
      [1, 'syntax'],
      [3, 'syntax'],
    ]);
    // What a build found in a line is not listed twice.
    editor.mark('build', [error(1, 11, 'Expression expected')], editor.contents);
    await editor.markSyntax();
    expect(editor.problems.map(({ line, finder }) => [line, finder])).to.deep.equal([
      [1, 'build'],
      [3, 'syntax'],
    ]);
  });

  it('has a name and a description for screen readers', async () => {
    open('a');
    expect(content().getAttribute('aria-label')).to.equal('Source of x');
    expect(content().getAttribute('aria-describedby')).to.equal('hint');
    await expect(parent).to.be.accessible({ ignoredRules: ['color-contrast'] });
  });
});
