import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { PluginSource } from 'plugin-editor/client.js';
import { appearance, contentName } from '../code/code-editor.ts';
import { el, icon } from '../ui/dom.ts';
import { languageSupport } from '../code/typing-help.ts';

/** One of the two versions to choose from. */
export interface Version {
  label: string;
  source: PluginSource;
}

export interface CompareOptions<T> {
  title: string;
  text: string;
  /** The first is shown left, or as what was; the second right, or as what is new. */
  versions: readonly [Version, Version];
  choices: readonly { label: string; value: T; primary?: boolean }[];
}

/** Shows two versions of a plugin and has the user choose; resolves with `undefined` when that is put off. */
export function compare<T>({ title, text, versions, choices }: CompareOptions<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    let chosen: T | undefined;
    const close = (value?: T) => {
      chosen = value;
      dialog.close();
    };
    const later = {
      type: 'button',
      class: 'button icon-only',
      'aria-label': 'Decide later',
      title: 'Decide later',
    };
    const buttons = choices.map(({ label, value, primary }) =>
      el(
        'button',
        { type: 'button', class: primary ? 'button primary' : 'button', onclick: () => close(value) },
        label,
      ),
    );
    const panes = el('div', { class: 'compare-panes' });
    const dialog = el(
      'dialog',
      {
        class: 'compare',
        // Takes the focus first, so that its words are read before its buttons.
        tabindex: '-1',
        'aria-labelledby': 'compare-title',
        'aria-describedby': 'compare-text',
      },
      el(
        'header',
        {},
        el('h2', { id: 'compare-title' }, title),
        el('button', { ...later, onclick: () => close() }, icon('close')),
        el('p', { id: 'compare-text' }, text),
      ),
      panes,
      el('footer', {}, ...buttons),
    );
    document.body.append(dialog);
    const views = fill(panes, versions);
    dialog.addEventListener('close', () => {
      for (const view of views) view.destroy();
      dialog.remove();
      resolve(chosen);
    });
    dialog.showModal();
    dialog.focus();
  });
}

/** Side by side where there is room, else one below the other, difference by difference. */
function fill(panes: HTMLElement, versions: readonly [Version, Version]): { destroy(): void }[] {
  const wide = matchMedia('(min-width: 700px)').matches;
  const [a, b] = versions;
  panes.append(
    el(
      'div',
      { class: wide ? 'compare-labels' : 'compare-labels stacked' },
      el('h3', { class: 'version-a' }, a.label),
      el('h3', { class: 'version-b' }, b.label),
    ),
  );
  const show = (texts: [string, string], lang: string): { destroy(): void } => {
    const parent = panes.appendChild(el('div', { class: 'compare-view' }));
    return wide ? sideBySide(parent, texts, versions, lang) : unified(parent, texts, versions, lang);
  };
  const views = [show([a.source.contents, b.source.contents], b.source.lang)];
  const tests = [testsText(a.source), testsText(b.source)] as [string, string];
  if (tests[0] !== tests[1]) {
    panes.append(el('h3', { class: 'compare-part' }, 'Tests'));
    views.push(show(tests, ''));
  }
  return views;
}

const differences = EditorView.theme({
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk, &.cm-merge-b .cm-deletedLine': {
    backgroundColor: 'var(--code-removed)',
  },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--code-added)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText, &.cm-merge-b .cm-deletedText': {
    background: 'var(--code-removed-text)',
    borderRadius: '2px',
  },
  '&.cm-merge-b .cm-changedText': { background: 'var(--code-added-text)', borderRadius: '2px' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
  '.cm-collapsedLines': { color: 'var(--muted)', background: 'var(--surface)', paddingBlock: '3px' },
});

const readOnly = (label: string, lang: string) => [
  appearance(),
  languageSupport(lang),
  differences,
  EditorState.readOnly.of(true),
  EditorView.lineWrapping,
  contentName({ 'aria-label': label }),
];

const collapse = { collapseUnchanged: { margin: 3, minSize: 6 } };

function sideBySide(
  parent: HTMLElement,
  texts: [string, string],
  [a, b]: readonly [Version, Version],
  lang: string,
) {
  return new MergeView({
    parent,
    a: { doc: texts[0], extensions: readOnly(a.label, lang) },
    b: { doc: texts[1], extensions: readOnly(b.label, lang) },
    ...collapse,
  });
}

function unified(
  parent: HTMLElement,
  texts: [string, string],
  [a, b]: readonly [Version, Version],
  lang: string,
) {
  return new EditorView({
    parent,
    doc: texts[1],
    extensions: [
      readOnly(`${b.label}, compared with: ${a.label}`, lang),
      unifiedMergeView({ original: texts[0], mergeControls: false, ...collapse }),
    ],
  });
}

/** A plugin's tests as a text to compare. */
const testsText = ({ tests = [] }: PluginSource): string =>
  tests
    .map(({ name = '', description = '', payload = '', ...rest }) =>
      [
        `# ${name}`,
        ...(description ? [description] : []),
        payload,
        ...(Object.keys(rest).length ? [JSON.stringify(rest)] : []),
      ].join('\n'),
    )
    .join('\n\n');
