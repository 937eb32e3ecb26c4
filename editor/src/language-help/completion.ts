import {
  type Completion,
  CompletionContext,
  type CompletionResult,
  type CompletionSource,
  completeFromList,
  completionStatus,
  ifNotIn,
  insertCompletionText,
} from '@codemirror/autocomplete';
import { localCompletionSource, snippets, typescriptSnippets } from '@codemirror/lang-javascript';
import { ensureSyntaxTree, forceParsing, syntaxTree } from '@codemirror/language';
import { LSPPlugin } from '@codemirror/lsp-client';
import type { EditorView } from '@codemirror/view';
import { type CompletionRequest, lateCompletions } from './late-completions.ts';
import type { HelpResult } from './results.ts';
import { sendClientRequest } from './text-command.ts';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];
type Item = NonNullable<HelpResult<'textDocument/completion'>>['items'][number];

// Names of private fields begin with "#".
const WORD = /#?[\p{ID_Continue}$]+|#/u;
const WHOLE_WORD = /^#?[\p{ID_Continue}$]*$/u;

/** How long parsing up to the cursor may take, in ms. */
const PARSE_TIME = 100;

/** The nodes of the grammar in which completion does not open by itself. */
const TEXT = new Set(['String', 'TemplateString', 'LineComment', 'BlockComment', 'RegExp']);

/** Whether the cursor is in a string or a comment. An expression within a template string is code. */
function isInText({ state, pos }: CompletionContext): boolean {
  // On a slow device the editor's own parsing may not have come to the cursor yet.
  const tree = ensureSyntaxTree(state, pos, PARSE_TIME) ?? syntaxTree(state);
  for (let node: SyntaxNode | null = tree.resolveInner(pos, -1); node; node = node.parent) {
    if (TEXT.has(node.name)) return true;
    if (node.name === 'Interpolation') return node.to === pos && state.sliceDoc(pos - 1, pos) === '}';
  }
  return false;
}

/** CodeMirror's types of completions by the protocol's kinds; other kinds are variables. */
const types: Record<number, string> = {
  1: 'text',
  2: 'method',
  3: 'function',
  4: 'class',
  5: 'property',
  7: 'class',
  8: 'interface',
  9: 'namespace',
  10: 'property',
  13: 'enum',
  14: 'keyword',
  20: 'constant',
  21: 'constant',
  25: 'type',
};

/**
 * The service's completions at the cursor; where the service fails, the names in the text. Where a second request may succeed, it
 * is sent, and its completions replace these names.
 */
async function serviceCompletions(context: CompletionContext): Promise<CompletionResult | null> {
  const { view, pos, explicit, state } = context;
  const plugin = view && LSPPlugin.get(view);
  if (!plugin) return null;
  const from = context.matchBefore(WORD)?.from ?? pos;
  if (!explicit && from === pos && state.sliceDoc(pos - 1, pos) !== '.') return null;
  const late = view.plugin(lateCompletions);
  const found = late?.take(context);
  if (found) return found;
  const request = requestCompletions(plugin, pos, from);
  context.addEventListener('abort', request.cancel, { onDocChange: true });
  try {
    return await request.result;
  } catch (error) {
    // Without a status the user has closed the list before it was filled.
    if (context.aborted || completionStatus(view.state) === null) return null;
    const names = namesInText(view, context);
    if (!late?.retry(context, error, () => requestCompletions(plugin, pos, from))) return names;
    // They are not valid for more of the word, so that the next key asks the service again.
    return names && { from: names.from, options: names.options };
  }
}

/** The names that the text has at the cursor. The text is still the one that the completions are for. */
function namesInText(view: EditorView, { pos, explicit }: CompletionContext): CompletionResult | null {
  // On a slow device the key comes before the parser.
  forceParsing(view, pos, PARSE_TIME);
  return localCompletionSource(new CompletionContext(view.state, pos, explicit));
}

function requestCompletions(plugin: LSPPlugin, pos: number, from: number): CompletionRequest {
  const params = { position: plugin.toPosition(pos) };
  const { result, cancel } = sendClientRequest(plugin, 'textDocument/completion', params);
  const toList = (found: HelpResult<'textDocument/completion'>) => {
    plugin.view.plugin(lateCompletions)?.handleSuccess();
    if (!found?.items.length) return null;
    return {
      from,
      options: found.items.map((item) => completionOf(item, plugin, from)),
      ...(found.isIncomplete ? {} : { validFor: WHOLE_WORD }),
    };
  };
  return { result: result.then(toList), cancel };
}

function completionOf(item: Item, plugin: LSPPlugin, wordFrom: number): Completion {
  const { label, kind = 0, sortText, filterText, insertText, textEdit } = item;
  const text = textEdit?.newText ?? insertText ?? label;
  // Some replace text before the word: where a value may be missing, "." becomes "?.".
  const before = textEdit ? wordFrom - plugin.fromPosition(textEdit.range.start) : 0;
  return {
    label: filterText ?? label,
    displayLabel: label,
    type: types[kind] ?? 'variable',
    ...(sortText === undefined ? {} : { sortText }),
    ...(text === label && !before
      ? {}
      : {
          apply: (view: EditorView, _: Completion, from: number, to: number) =>
            view.dispatch(insertCompletionText(view.state, text, from - before, to)),
        }),
    info: () => describe(plugin, label),
  };
}

/** Type and documentation of a completion, loaded when the user selects it in the list. */
async function describe(plugin: LSPPlugin, label: string): Promise<HTMLElement | null> {
  const position = plugin.toPosition(plugin.view.state.selection.main.head);
  const found = await sendClientRequest(plugin, 'completionItem/resolve', { position, label }).result.catch(
    () => null,
  );
  // Of a word of the text, the service knows nothing but the word.
  const detail = found?.detail === label ? undefined : found?.detail;
  if (!detail && !found?.documentation) return null;
  const element = document.createElement('div');
  element.className = 'cm-lsp-documentation';
  const fence = detail ? `\`\`\`typescript\n${detail}\n\`\`\`\n` : '';
  element.innerHTML = plugin.docToHTML({
    kind: 'markdown',
    value: `${fence}${found?.documentation?.value ?? ''}`,
  });
  return element;
}

/** Snippets of whole statements, where a word stands alone. */
function snippetSource(lang: string): CompletionSource {
  const all = completeFromList(lang === 'typescript' ? typescriptSnippets : snippets);
  const source = ifNotIn(['.', 'PropertyDefinition', 'PropertyName'], all);
  return (context) => {
    const word = context.matchBefore(WORD);
    if (!word || isInText(context)) return null;
    return context.state.sliceDoc(word.from - 1, word.from) === '.' ? null : source(context);
  };
}

/** The sources of completions of a language, which replace CodeMirror's. */
export const completionSources = (lang: string): CompletionSource[] => [
  (context) => (context.explicit || !isInText(context) ? serviceCompletions(context) : null),
  snippetSource(lang),
];
