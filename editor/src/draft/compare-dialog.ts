import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { html, nothing, render } from 'lit/html.js';
import type { PluginSource } from 'plugin-editor/client.js';
import { appearance, codeMirrorPhrases, contentName } from '../code/code-theme.ts';
import { wrapping } from '../code/wrapping.ts';
import { languageSupport } from '../code/typing-help.ts';
import { texts } from '../locales/locale.ts';
import { openDialog } from '../ui/dialog.ts';

/** One of the two sources that are compared. */
export interface ComparedSource {
  label: string;
  source: PluginSource;
}

export interface CompareOptions<T> {
  title: string;
  text: string;
  /** The first is shown left, or as the old one; the second right, or as the new one. */
  versions: readonly [ComparedSource, ComparedSource];
  /** Without choices the dialog only shows the versions. */
  choices: readonly { label: string; value: T; primary?: boolean }[];
}

/** Shows two versions of a plugin and lets the user choose. Resolves with `undefined` where the user closes it. */
export function showCompareDialog<T>({
  title,
  text,
  versions,
  choices,
}: CompareOptions<T>): Promise<T | undefined> {
  return openDialog<T>({
    className: 'compare',
    title,
    content: (close) => html`
      <p class="dialog-text" id="compare-text">${text}</p>
      <div class="compare-panes"></div>
      <footer>
        ${(choices.length
          ? choices
          : [{ label: texts().common.close, value: undefined, primary: false }]
        ).map(
          ({ label, value, primary }) =>
            html`<button
              type="button"
              class=${primary ? 'button primary' : 'button'}
              @click=${() => close(value)}
            >
              ${label}
            </button>`,
        )}
      </footer>
    `,
    onOpen: (dialog) => {
      dialog.setAttribute('aria-describedby', 'compare-text');
      const panes = dialog.querySelector<HTMLElement>('.compare-panes');
      const views = panes ? showSources(panes, versions) : [];
      return () => views.forEach((view) => view.destroy());
    },
  });
}

/** Shows the texts and the tests of two sources: side by side where there is room, else one below the other. */
function showSources(
  panes: HTMLElement,
  versions: readonly [ComparedSource, ComparedSource],
): { destroy(): void }[] {
  const isWide = matchMedia('(min-width: 700px)').matches;
  const [a, b] = versions;
  const tests: [string, string] = [testsText(a.source), testsText(b.source)];
  const hasOtherTests = tests[0] !== tests[1];
  render(
    html`<div class=${isWide ? 'compare-labels' : 'compare-labels stacked'}>
        <h3 class="version-a">${a.label}</h3>
        <h3 class="version-b">${b.label}</h3>
      </div>
      <div class="compare-view"></div>
      ${
        hasOtherTests
          ? html`<h3 class="compare-part">${texts().conflict.tests}</h3>
              <div class="compare-view"></div>`
          : nothing
      }`,
    panes,
  );
  const [source, other] = panes.querySelectorAll<HTMLElement>('.compare-view');
  const show = isWide ? sideBySide : unified;
  return [
    ...(source ? [show(source, [a.source.contents, b.source.contents], versions, b.source.lang)] : []),
    ...(other ? [show(other, tests, versions, '')] : []),
  ];
}

const differences = EditorView.theme({
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk, &.cm-merge-b .cm-deletedLine': {
    backgroundColor: 'var(--code-removed)',
  },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--code-added)' },
  // A line below what changed, because no background could be told from that of its line and leave code readable.
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText, &.cm-merge-b .cm-deletedText': {
    background: 'var(--code-removed-text)',
    boxShadow: 'inset 0 -2px var(--bad)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'var(--code-added-text)',
    boxShadow: 'inset 0 -2px var(--good)',
  },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
  // As far from the edge as lines that are no widget.
  '.cm-deletedChunk': { paddingLeft: '10px', paddingRight: '16px' },
  '.cm-collapsedLines': { color: 'var(--muted)', background: 'var(--surface)', paddingBlock: '3px' },
  // CodeMirror's own signs are in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…"' },
});

const readOnly = (label: string, lang: string) => [
  appearance(),
  languageSupport(lang),
  differences,
  EditorState.readOnly.of(true),
  codeMirrorPhrases(),
  EditorState.phrases.of({ '$ unchanged lines': texts().conflict.unchangedLines('$') }),
  wrapping,
  contentName({ 'aria-label': label }),
];

const collapse = { collapseUnchanged: { margin: 3, minSize: 6 } };

function sideBySide(
  parent: HTMLElement,
  sides: [string, string],
  [a, b]: readonly [ComparedSource, ComparedSource],
  lang: string,
) {
  return new MergeView({
    parent,
    a: { doc: sides[0], extensions: readOnly(a.label, lang) },
    b: { doc: sides[1], extensions: readOnly(b.label, lang) },
    ...collapse,
  });
}

function unified(
  parent: HTMLElement,
  sides: [string, string],
  [a, b]: readonly [ComparedSource, ComparedSource],
  lang: string,
) {
  return new EditorView({
    parent,
    doc: sides[1],
    extensions: [
      readOnly(texts().conflict.comparedWith(b.label, a.label), lang),
      unifiedMergeView({ original: sides[0], mergeControls: false, ...collapse }),
    ],
  });
}

/** A plugin's tests as a text to compare. */
const testsText = ({ tests = [] }: PluginSource): string =>
  tests
    .map(({ name = '', description = '', payload = '', expected, ...rest }) =>
      [
        `# ${name}`,
        ...(description ? [description] : []),
        payload,
        ...(typeof expected === 'string' ? [`=> ${expected}`] : []),
        ...(Object.keys(rest).length ? [JSON.stringify(rest)] : []),
      ].join('\n'),
    )
    .join('\n\n');
