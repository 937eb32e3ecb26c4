import { missingRun, positionOfRun, positionsIn } from '../build/positions.ts';
import type { Diagnostic } from '../language.ts';
import { expectArguments } from '../../processes/connected-process.ts';
import { moduleUrl } from '../../processes/module-url.ts';
import { replaceModule } from '../../processes/replaced-modules.ts';
import { absentGlobals, findAbsentGlobals } from './absent-globals.ts';
import { adviceForPlugins, severityInJavaScript } from './advice.ts';
import { compilerOptions, sandboxDeclarations, textTypes } from './declarations.ts';
import type { CheckedLanguage, PluginTypes } from './declarations.ts';
import { compilerCommand, compilerDirectory } from './native-compiler.ts';
import { typedSource, untypedSource } from './typed-input.ts';

/** The problems that the type checker finds. `parses` is false where it could not parse the source, and only says why. */
export interface TypeReport {
  readonly parses: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export type CheckTypes = (source: string, types: PluginTypes) => TypeReport;

const root = '/plugin';

// The arguments by which the compiler's client starts the native program; `connected-process.ts` compares them.
const helperArguments = [
  '--api',
  '--cwd',
  root,
  '--callbacks=readFile,fileExists,directoryExists,getAccessibleEntries,realpath',
];

/** The native program of a language whose compiler checks types. */
export const typeCheckerProgram = () => ({ command: compilerCommand(), args: helperArguments });

// The compiler's codes for a missing export, and for a file that is not a module.
const notThere = new Set([2339, 2306, 2305]);

/** Loads the type checker, in a compiler's process alone. */
export async function loadTypeChecker(language: CheckedLanguage): Promise<CheckTypes> {
  // The client would start the native program by itself, which the compiler's process may not do.
  replaceModule('child_process', moduleUrl('../../processes/connected-process', import.meta.url));
  expectArguments(helperArguments);
  const { API, DiagnosticCategory } = await import('typescript/unstable/sync');
  const libraries = `${compilerDirectory().replaceAll('\\', '/')}/`;
  const isJavaScript = language === 'javascript';
  const project = `${root}/tsconfig.json`;
  const plugin = `${root}/plugin.${isJavaScript ? 'js' : 'ts'}`;
  const signature = `${root}/signature.ts`;
  const declarations = `${root}/types.d.ts`;
  const files = new Map([
    [
      project,
      JSON.stringify({
        compilerOptions: compilerOptions(language),
        files: [signature, `${root}/sandbox.d.ts`, declarations],
      }),
    ],
    [`${root}/sandbox.d.ts`, sandboxDeclarations],
    [declarations, textTypes.declarations],
    [signature, signatureOf(textTypes, isJavaScript)],
    [plugin, ''],
  ]);
  const api = new API({
    cwd: root,
    // Files in memory instead of the disk, beside the compiler's own declarations.
    fs: {
      readFile: (path) =>
        files.get(path) ?? (path.startsWith(libraries) && !path.includes('/..') ? undefined : null),
      fileExists: (path) => files.has(path),
      directoryExists: (path) => path === root || path === '/',
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (path) => path,
    },
  });
  api.updateSnapshot({ openProjects: [project] });

  return (source, types) => {
    const changed = [plugin];
    const set = (file: string, text: string) => {
      if (files.get(file) === text) return;
      files.set(file, text);
      changed.push(file);
    };
    set(declarations, types.declarations);
    set(signature, signatureOf(types, isJavaScript));
    const typed = isJavaScript ? typedSource(source, types.input) : untypedSource(source);
    files.set(plugin, typed.text);
    const typedPosition = positionsIn(typed.text);
    const positionAt = (offset: number) => {
      const { line, column } = typedPosition(offset);
      const place = typed.fromTyped({ line: line - 1, character: column - 1 });
      return { line: place.line + 1, column: place.character + 1 };
    };
    const snapshot = api.updateSnapshot({ fileChanges: { changed } });
    try {
      const opened = snapshot.getProject(project);
      if (!opened) throw new Error('The compiler has lost its project.');
      const { program, checker } = opened;
      const syntax = program.getSyntacticDiagnostics(plugin);
      const found = syntax.length
        ? syntax
        : [...program.getProgramDiagnostics(), ...program.getSemanticDiagnostics(plugin)];
      const diagnostics = found.flatMap((one): readonly Diagnostic[] => {
        const at = one.fileName === plugin ? one.pos : 0;
        const message = adviceForPlugins(textOf(one), typed.text.slice(at, at + 1));
        const isError = one.category === DiagnosticCategory.Error;
        const severity = !isError
          ? 'warning'
          : isJavaScript && !syntax.length
            ? severityInJavaScript({ code: one.code, message }, source)
            : 'error';
        return severity ? [{ ...positionAt(at), message, severity }] : [];
      });
      if (syntax.length) return { parses: false, diagnostics };
      for (const { at, name } of findAbsentGlobals(typed.text)) {
        const symbol = checker.getSymbolAtPosition(plugin, at);
        // There is no symbol in a comment or a string, and the plugin may declare the name itself.
        if (!symbol || symbol.declarations.some(({ path }) => path === plugin)) continue;
        const message = `Cannot find name '${name}'. ${absentGlobals.get(name)}`;
        diagnostics.push({ ...positionAt(at), message, severity: 'error' });
      }
      for (const one of program.getSemanticDiagnostics(signature)) {
        diagnostics.push({
          ...positionOfRun(source),
          message: notThere.has(one.code)
            ? missingRun(types, isJavaScript)
            : `${wrongRun(types)} ${removeLoose(textOf(one))}`,
          severity: isJavaScript ? 'warning' : 'error',
        });
      }
      return { parses: true, diagnostics };
    } finally {
      snapshot.dispose();
    }
  };
}

/**
 * A module that checks the type of the plugin's `run`. JavaScript declares no return types, and the compiler infers for
 * `{ state: 'new' }` an object with any text: so literals and tuples of the output's type are loosened to texts and lists. The
 * run checks the output exactly.
 */
const signatureOf = ({ input, output }: PluginTypes, isJavaScript: boolean) => {
  const given = isJavaScript ? `Loose<${output}>` : output;
  return `import * as plugin from './plugin';
type LooseObject<T> = { [Key in keyof T]: Loose<T[Key]> };
type Loose<T> = 0 extends 1 & T ? T
  : unknown extends T ? T
  : T extends string ? string
  : T extends number ? number
  : T extends boolean ? boolean
  : T extends readonly (infer Item)[] ? Loose<Item>[]
  : LooseObject<T>;
export const run: (input: ${input}) => ${given} | Promise<${given}> = plugin.run;`;
};

/** Removes the helper types of {@link signatureOf} from a message about `run`. */
function removeLoose(message: string): string {
  const shorter = message.replaceAll(/\bLoose(?:Object)?<([^<>]*)>/g, '$1');
  return shorter === message ? message : removeLoose(shorter);
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
