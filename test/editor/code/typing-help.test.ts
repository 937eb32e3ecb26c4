import { expect } from '@open-wc/testing';
import { sendKeys } from '@web/test-runner-commands';
import { CodeEditor } from '../../../editor/src/code/code-editor.ts';
import { loadTypingHelp, loadedTypingHelp } from '../../../editor/src/code/languages.ts';
import { until } from '../../support/until.ts';

// In a separate file, because what is loaded stays loaded for as long as the page lives.
describe('a text that is shown before the languages are loaded', () => {
  let opened: CodeEditor | undefined;
  after(() => {
    opened?.close();
    document.body.replaceChildren();
  });

  const openEditor = () => {
    const hint = document.createElement('p');
    hint.id = 'hint';
    const editor = new CodeEditor({
      contents: 'const one: number = 1;\n',
      lang: 'typescript',
      label: () => 'Source of x',
      isReadOnly: false,
      describedBy: 'hint',
    });
    document.body.append(hint, editor.element);
    return editor;
  };

  it('can be edited, and gets colours, completion and search without losing a change', async () => {
    expect(loadedTypingHelp(), 'loaded before the test').to.equal(undefined);
    // Opened here and not in a hook, after which the files of the languages might come before the test goes on.
    const editor = (opened = openEditor());
    const content = editor.element.querySelector('.cm-content') as HTMLElement;
    expect(content.querySelectorAll('.cm-line span').length).to.equal(0);
    editor.focus();
    // Not by the driver's keyboard: the languages might be there before it has pressed a key.
    document.execCommand('insertText', false, '// typed ');
    // The text editor observes the change before any file can come.
    await Promise.resolve();
    expect(loadedTypingHelp(), 'loaded before the change').to.equal(undefined);
    await loadTypingHelp();
    await until('the languages', () => content.dataset['language'] === 'typescript');
    await until('colours', () => content.querySelectorAll('.cm-line span').length > 0);
    expect(editor.contents).to.equal('// typed const one: number = 1;\n');
    await editor.openSearch({ replace: false });
    await until(
      'focus in the search',
      () => document.activeElement === editor.element.querySelector('.find [name=search]'),
    );
    editor.focus();
    await sendKeys({ down: 'Control' });
    await sendKeys({ press: 'z' });
    await sendKeys({ up: 'Control' });
    await until('the completed text', () => editor.contents === 'const one: number = 1;\n');
  });
});
