import type { Diagnostic as CompilerDiagnostic, Project } from 'typescript/unstable/sync';
import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Position } from '../build/positions.ts';
import type { Diagnostic } from '../language.ts';
import { expectArguments } from '../../processes/connected-process.ts';
import { moduleUrl } from '../../processes/module-url.ts';
import { replaceModule } from '../../processes/replaced-modules.ts';
import { absentGlobals, findAbsentGlobals } from './absent-globals.ts';
import { adviceForPlugins, severityInJavaScript } from './advice.ts';
import { textTypes } from './declarations.ts';
import type { CheckedLanguage, PluginTypes } from './declarations.ts';
import { compilerCommand } from './native-compiler.ts';
import { projectFile, ProjectFiles, root, signatureFile, removeLooseTypes } from './project-files.ts';
import { typedSource, untypedSource } from './typed-input.ts';
import type { TypedSource } from './typed-input.ts';

/** The problems that the type checker finds. */
export interface TypeReport {
  /** Whether the source parses. Where it does not, only syntax errors are reported. */
  readonly parses: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export type CheckTypes = (source: string, types: PluginTypes) => TypeReport;

// The arguments by which the compiler's client starts the native program; `connected-process.ts` compares them.
const helperArguments = [
  '--api',
  '--cwd',
  root,
  '--callbacks=readFile,fileExists,directoryExists,getAccessibleEntries,realpath',
];

/** The native program of a language whose compiler checks types. */
export const typeCheckerProgram = () => ({ command: compilerCommand(), args: helperArguments });

/** The compiler's codes for a missing export, and for a file that is not a module. */
const missingRunCodes = new Set([2339, 2306, 2305]);

/** Loads the type checker. Only for a compiler's process, because it replaces `child_process` there. */
export async function loadTypeChecker(language: CheckedLanguage): Promise<CheckTypes> {
  // The client would start the native program by itself, which the compiler's process may not do.
  replaceModule('child_process', moduleUrl('../../processes/connected-process', import.meta.url));
  expectArguments(helperArguments);
  const { API, DiagnosticCategory } = await import('typescript/unstable/sync');
  const files = new ProjectFiles(language);
  const api = new API({ cwd: root, fs: files.fileSystem });
  api.updateSnapshot({ openProjects: [projectFile] });

  const isJavaScript = language === 'javascript';
  const checkAs = (typed: TypedSource, source: string, types: PluginTypes): TypeReport => {
    const changed = files.update(typed.text, types);
    const snapshot = api.updateSnapshot({ fileChanges: { changed } });
    try {
      const project = snapshot.getProject(projectFile);
      if (!project) throw new Error('The compiler has lost its project.');
      const check = { project, plugin: files.plugin, source, typed, types, isJavaScript };
      return diagnoseProject(check, ({ category }) => category === DiagnosticCategory.Error);
    } finally {
      snapshot.dispose();
    }
  };

  return (source, types) => {
    const untyped = untypedSource(source);
    if (!isJavaScript) return checkAs(untyped, source, types);
    const report = checkAs(typedSource(source, types.input), source, types);
    // A comment at a wrong place may be what does not parse.
    return report.parses ? report : checkAs(untyped, source, types);
  };
}

/** One check of a plugin. */
interface PluginCheck {
  readonly project: Project;
  /** The path of the plugin. */
  readonly plugin: string;
  /** The plugin as its author wrote it. */
  readonly source: string;
  /** The plugin as the compiler gets it. */
  readonly typed: TypedSource;
  readonly types: PluginTypes;
  readonly isJavaScript: boolean;
}

function diagnoseProject(check: PluginCheck, isError: (found: CompilerDiagnostic) => boolean): TypeReport {
  const { project, plugin, source, typed, types, isJavaScript } = check;
  const { program } = project;
  const positionAt = positionsOfSource(typed);
  const toDiagnostics = (found: readonly CompilerDiagnostic[], isSyntax: boolean) =>
    found.flatMap((one): readonly Diagnostic[] => {
      const at = one.fileName === plugin ? one.pos : 0;
      const message = adviceForPlugins(textOf(one), typed.text.slice(at, at + 1), types);
      const severity = !isError(one)
        ? 'warning'
        : isJavaScript && !isSyntax
          ? severityInJavaScript({ code: one.code, message }, source)
          : 'error';
      return severity ? [{ ...positionAt(at), message, severity }] : [];
    });
  const syntax = program.getSyntacticDiagnostics(plugin);
  if (syntax.length) return { parses: false, diagnostics: toDiagnostics(syntax, true) };
  const found = [...program.getProgramDiagnostics(), ...program.getSemanticDiagnostics(plugin)];
  return {
    parses: true,
    diagnostics: [
      ...toDiagnostics(found, false),
      ...diagnoseAbsentGlobals(check, positionAt),
      ...diagnoseSignature(check),
    ],
  };
}

/** Makes a function that turns offsets in a source as the compiler gets it into positions in the source as it was written. */
function positionsOfSource(typed: TypedSource): (offset: number) => Position {
  const typedPosition = positionsIn(typed.text);
  return (offset) => {
    const { line, column } = typedPosition(offset);
    const place = typed.fromTyped({ line: line - 1, character: column - 1 });
    return { line: place.line + 1, column: place.character + 1 };
  };
}

/** Finds the globals that TypeScript's library declares, and the sandbox does not have. */
function diagnoseAbsentGlobals(
  { project: { checker }, plugin, typed }: PluginCheck,
  positionAt: (offset: number) => Position,
): Diagnostic[] {
  return findAbsentGlobals(typed.text).flatMap(({ at, name }) => {
    const symbol = checker.getSymbolAtPosition(plugin, at);
    // There is no symbol in a comment or a string, and the plugin may declare the name itself.
    if (!symbol || symbol.declarations.some(({ path }) => path === plugin)) return [];
    const message = `Cannot find name '${name}'. ${absentGlobals.get(name)}`;
    return [{ ...positionAt(at), message, severity: 'error' }];
  });
}

/** Finds what keeps the plugin from exporting a function `run` of its type. */
function diagnoseSignature({ project: { program }, source, types, isJavaScript }: PluginCheck): Diagnostic[] {
  return program.getSemanticDiagnostics(signatureFile).map((one) => ({
    ...positionOfRun(source),
    message: missingRunCodes.has(one.code)
      ? missingRun(types, isJavaScript)
      : `${wrongRun(types)} ${removeLooseTypes(textOf(one))}`,
    severity: isJavaScript ? 'warning' : 'error',
  }));
}

const wrongRun = ({ input, output }: PluginTypes) =>
  input === textTypes.input
    ? '"run" must be a function from text to text, or to a promise of text.'
    : `"run" must be a function from ${input} to ${output}, or to a promise of it.`;

interface Message {
  readonly text: string;
  readonly messageChain?: readonly Message[] | undefined;
}

const textOf = ({ text, messageChain = [] }: Message): string =>
  [text, ...messageChain.map(textOf)].join('\n');
