import type { HelpJob } from './help-protocol.ts';
import type { LanguageServer } from './language-server.ts';
import { helpLimits } from './limits.ts';
import { rootUri } from './plugin-files.ts';
import type { PluginFiles } from './plugin-files.ts';
import { fixesFor } from './quick-fixes.ts';
import type { HelpMethod, HelpRequest, HelpResult, Position, Range, TextEdit } from './requests.ts';
import * as serverResults from './server-results.ts';
import type { ServerCompletion, ServerDiagnostic } from './server-results.ts';
import { absentGlobals } from '../types/absent-globals.ts';
import { typedSource, untypedSource } from '../types/typed-input.ts';
import type { TypedSource } from '../types/typed-input.ts';

/*
 * Does the jobs of language help: asks the language server, and brings its results within the limits, because the source
 * determines how large they are.
 */

interface HelpContext {
  readonly server: LanguageServer;
  readonly uri: string;
  readonly source: string;
  readonly typed: TypedSource;
}

type Params<Method extends HelpMethod> = Extract<HelpRequest, { method: Method }>['params'];

type HelpHandlers = {
  readonly [Method in HelpMethod]: (
    context: HelpContext,
    params: Params<Method>,
  ) => Promise<HelpResult<Method>>;
};

/** Does one job. Rejects with the error of the language server. */
export async function doHelpJob(
  server: LanguageServer,
  files: PluginFiles,
  { language, contents, types, request }: HelpJob,
): Promise<HelpResult> {
  const { method, params } = request;
  // Formatting is done on the source as it is; an added comment with a type would be formatted along.
  const isTyped = language === 'javascript' && method !== 'textDocument/formatting';
  const typed = isTyped ? typedSource(contents, types.input) : untypedSource(contents);
  if ('position' in params && !hasPosition(contents, params.position)) return null;
  const uri = files.update(language, typed.text, types.declarations);
  const handle = handlers[method] as (context: HelpContext, params: unknown) => Promise<HelpResult>;
  return handle({ server, uri, source: contents, typed }, params);
}

const handlers: HelpHandlers = {
  'textDocument/completion': async (context, { position }) => {
    const items = await requestCompletions(context, position);
    if (!items) return null;
    const fitting =
      items.length > helpLimits.completions ? sortByTypedWord(items, context.source, position) : items;
    return {
      isIncomplete: fitting.length < items.length || items.length > helpLimits.completions,
      items: fitting.slice(0, helpLimits.completions).map((item) => completionOf(context, item)),
    };
  },

  'completionItem/resolve': async (context, { position, label }) => {
    const found = (await requestCompletions(context, position))?.find((item) => item.label === label);
    if (!found) return null;
    const { detail, documentation } = serverResults.completionItem.parse(
      await context.server.request('completionItem/resolve', found),
    );
    return {
      label,
      ...(detail !== undefined && { detail: cut(detail) }),
      ...(documentation && { documentation: markdown(documentation.value) }),
    };
  },

  'textDocument/hover': async (context, { position }) => {
    const found = serverResults.hover.parse(await sendRequest(context, 'textDocument/hover', position));
    if (!found) return null;
    return {
      contents: markdown(found.contents.value),
      ...(found.range && { range: rangeInSource(context, found.range) }),
    };
  },

  'textDocument/signatureHelp': async (context, { position }) => {
    const found = serverResults.signatureHelp.parse(
      await sendRequest(context, 'textDocument/signatureHelp', position),
    );
    if (!found) return null;
    const { signatures, activeSignature = 0 } = found;
    // Begins so that the active signature is among those that are kept.
    const first = Math.max(0, Math.min(activeSignature, signatures.length - helpLimits.signatures));
    const activeParameter = signatures[activeSignature]?.activeParameter ?? found.activeParameter;
    return {
      signatures: signatures
        .slice(first, first + helpLimits.signatures)
        .map(({ label, documentation, parameters = [] }) => ({
          label: cut(label),
          ...(documentation && { documentation: markdown(documentation.value) }),
          parameters: parameters.slice(0, helpLimits.parameters).map((parameter) => ({
            label: cut(parameter.label),
            ...(parameter.documentation && { documentation: markdown(parameter.documentation.value) }),
          })),
        })),
      activeSignature: activeSignature - first,
      ...(activeParameter !== undefined && { activeParameter }),
    };
  },

  'textDocument/definition': async (context, { position }) => {
    const found =
      serverResults.locations.parse(await sendRequest(context, 'textDocument/definition', position)) ?? [];
    const own = found.filter(({ uri }) => uri === context.uri);
    const isBuiltIn = !own.length && found.some(({ uri }) => isDeclaration(uri));
    // A location in any other file must not reveal that the machine has such a file.
    if (!own.length && !isBuiltIn) return null;
    return {
      ranges: own.slice(0, helpLimits.fixes).map((one) => rangeInSource(context, one.range)),
      isBuiltIn,
    };
  },

  'textDocument/rename': async (context, { position, newName }) => {
    const params = { ...toDocumentPosition(context, position), newName };
    const found = serverResults.workspaceEdit.parse(
      await context.server.request('textDocument/rename', params),
    );
    const edits = found?.changes?.[context.uri];
    // A name that is also used in other files, such as in the types of a namespace, cannot be renamed in the plugin alone.
    if (!edits || Object.keys(found?.changes ?? {}).length > 1) return null;
    return editsInSource(context, edits);
  },

  'textDocument/codeAction': async (context, { range }) => {
    const { items } = serverResults.diagnostics.parse(
      await context.server.request('textDocument/diagnostic', { textDocument: { uri: context.uri } }),
    );
    const problems = items
      // 1 and 2 are errors and warnings; higher numbers are hints, such as on unused names.
      .filter(({ severity = 1 }) => severity <= 2)
      .map((problem) => problemInSource(context, problem))
      .filter((problem) => touches(problem.range, range));
    const fixes: HelpResult<'textDocument/codeAction'> = [];
    for (const { title, data, edits } of fixesFor(problems, context.source)) {
      if (Math.max(title.length, data.name?.length ?? 0) > helpLimits.label) continue;
      fixes.push({ title, kind: 'quickfix', data, edits: [...edits] });
      if (fixes.length === helpLimits.fixes) break;
    }
    return fixes;
  },

  'textDocument/formatting': async ({ server, uri }, { options }) => {
    const edits = serverResults.edits.parse(
      await server.request('textDocument/formatting', { textDocument: { uri }, options }),
    );
    return edits && edits.length <= helpLimits.edits ? edits : null;
  },
};

const sendRequest = ({ server, ...context }: HelpContext, method: string, position: Position) =>
  server.request(method, toDocumentPosition(context, position));

const toDocumentPosition = ({ uri, typed }: Pick<HelpContext, 'uri' | 'typed'>, position: Position) => ({
  textDocument: { uri },
  position: typed.toTyped(position),
});

const rangeInSource = ({ typed }: Pick<HelpContext, 'typed'>, { start, end }: Range): Range => ({
  start: { ...typed.fromTyped(start) },
  end: { ...typed.fromTyped(end) },
});

/** A problem at its places in the source; places in other files are left out. */
const problemInSource = (context: HelpContext, problem: ServerDiagnostic): ServerDiagnostic => ({
  ...problem,
  range: rangeInSource(context, problem.range),
  relatedInformation: problem.relatedInformation
    ?.filter(({ location }) => location.uri === context.uri)
    .map(({ location: { uri, range }, message }) => ({
      location: { uri, range: rangeInSource(context, range) },
      message,
    })),
});

function editsInSource(context: HelpContext, edits: readonly TextEdit[]): TextEdit[] | null {
  if (edits.length > helpLimits.edits) return null;
  return edits.map(({ range, newText }) => ({ range: rangeInSource(context, range), newText }));
}

async function requestCompletions(
  context: HelpContext,
  position: Position,
): Promise<ServerCompletion[] | undefined> {
  const found = serverResults.completions.parse(
    await sendRequest(context, 'textDocument/completion', position),
  );
  return found?.items.filter(isUsable);
}

// The protocol's numbers of the kinds "file" and "folder".
const fileKinds = new Set([17, 19]);

/** Whether a completion is of use in a plugin: no file or folder of the machine, and nothing that would add an import. */
const isUsable = ({ label, kind = 0, additionalTextEdits }: ServerCompletion) =>
  !fileKinds.has(kind) &&
  !additionalTextEdits?.length &&
  label.length <= helpLimits.label &&
  !absentGlobals.has(label);

/** The completions that begin with the word that is being typed, the nearest first. */
function sortByTypedWord(items: readonly ServerCompletion[], source: string, position: Position) {
  const before = (source.split(/\r\n?|\n/)[position.line] ?? '').slice(0, position.character);
  const word =
    before
      .slice(-helpLimits.label)
      .split(/[^\p{ID_Continue}$]/u)
      .at(-1) ?? '';
  const keyOf = ({ label, sortText = label }: ServerCompletion) =>
    `${label === word ? 0 : 1}\0${sortText}\0${label}`;
  return items
    .filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function completionOf(context: HelpContext, { label, kind, ...item }: ServerCompletion) {
  const texts = (['sortText', 'filterText', 'insertText'] as const).flatMap((name) => {
    const text = item[name];
    return text === undefined || text.length > helpLimits.label ? [] : [[name, text] as const];
  });
  const { textEdit } = item;
  return {
    label,
    ...(kind !== undefined && { kind }),
    ...Object.fromEntries(texts),
    ...(textEdit &&
      textEdit.newText.length <= helpLimits.label && {
        textEdit: { range: rangeInSource(context, textEdit.range), newText: textEdit.newText },
      }),
  };
}

const cut = (text: string): string =>
  text.length <= helpLimits.documentation ? text : `${text.slice(0, helpLimits.documentation - 2)} …`;

/** Blocks and pieces of code in Markdown. */
const code = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/;

/** Escapes HTML tags outside of code. Markdown may hold HTML, and documentation comments may hold anything. */
const escapeTags = (text: string): string =>
  text
    .split(code)
    .map((part, index) => (index % 2 ? part : part.replaceAll('<', '&lt;')))
    .join('');

/** Documentation as Markdown. A code block that was truncated is closed again. */
const markdown = (text: string) => {
  const value = cut(escapeTags(cut(text)));
  const isOpen = value.length === helpLimits.documentation && (value.match(/^```/gm)?.length ?? 0) % 2 === 1;
  return {
    kind: 'markdown' as const,
    value: isOpen ? `${value.slice(0, helpLimits.documentation - 6)} …\n\`\`\`` : value,
  };
};

/** Whether a file declares the language, the sandbox or the types of the namespace. */
const isDeclaration = (uri: string) =>
  uri.startsWith(`${rootUri}/`) || /^lib\.[\w.]*d\.ts$/.test(uri.slice(uri.lastIndexOf('/') + 1));

const isBefore = (a: Position, b: Position) =>
  a.line < b.line || (a.line === b.line && a.character < b.character);

const touches = (a: Range, b: Range) => !isBefore(a.end, b.start) && !isBefore(b.end, a.start);

/** Whether a position is within a source. */
function hasPosition(source: string, { line, character }: Position): boolean {
  const text = source.split(/\r\n?|\n/)[line];
  return text !== undefined && character <= text.length;
}
