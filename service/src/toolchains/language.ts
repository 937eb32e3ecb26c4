import type { PluginSource } from '../plugins/records.ts';
import type { CompiledProgram } from '../plugins/program.ts';
import type { ReachableConnection } from './typed-template.ts';
import type { PluginTypes } from './types/declarations.ts';

export type Severity = 'error' | 'warning' | 'information';

/** Something that a build found in the user's source. */
export interface Diagnostic {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
  readonly message: string;
  readonly severity: Severity;
}

export interface Compilation {
  /** What the sandbox runs; without it the build has failed. */
  readonly program?: CompiledProgram;
  /** The names of the libraries that the program imports (default: none). */
  readonly imports?: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles a plugin, which is one file. `types`: the types of the input and output of its `run`. It throws only where the
 * toolchain itself has a defect.
 */
export type Compile = (source: string, types: PluginTypes) => Compilation | Promise<Compilation>;

/** The package that a language needs, and that the service may be without, is not installed. The message says how to get it. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';

  constructor(name: string) {
    super(`it needs the package "${name}"; install it beside the service: npm install ${name}`);
  }
}

/** One language toolchain: the default export of one file in `languages/`. */
export interface Language {
  /** The value of `lang` and of the language path segment: lower-case letters, digits and hyphens. */
  readonly identifier: string;
  /** Its name, for people. */
  readonly pretty: string;
  /** Two to four letters. */
  readonly short: string;
  /** A new plugin: source that works without changes, and tests for it. The names may be any text. */
  template(plugin: {
    pluginName: string;
    namespace: string;
    readonly connections?: readonly ReachableConnection[] | undefined;
  }): PluginSource;
  /**
   * The source of a new plugin in a namespace with types. It works without changes where an example of its output is known.
   * @param types.output JSON of a value that fits the output's schema; `undefined` where none is known
   * @param types.connections what a plugin may reach
   * @param types.declarations the types of the namespace in the language of {@link declarations}; else empty
   */
  typedTemplate(types: {
    readonly output: string | undefined;
    readonly declarations: string;
    readonly connections?: readonly ReachableConnection[] | undefined;
  }): string;
  /** The language of the declarations that its template and the editor show (default: TypeScript, only in the editor). */
  readonly declarations?: 'python';
  /** Whether it needs a package that the service may be without. Its compiler is started by the first build, and not with the service. */
  readonly isOptional?: boolean;
  /** Throws when the toolchain cannot work on this machine. It must be quick, because it is called when the service starts. */
  probe(): void;
  /** The dependencies of the service that the module and the compiler load. Their process can read no others. */
  readonly packages: readonly string[];
  /** What the compiler must be permitted beyond reading its own files: native add-ons. */
  readonly needs?: readonly 'addons'[];
  /** Options for Node, or V8, in the compiler's process. */
  readonly engineOptions?: readonly string[];
  /**
   * A native program that the compiler uses. The compiler's process may start no programs, so the service starts this one, and
   * gives the compiler its output as descriptor 0 and its input as descriptor 1.
   */
  helper?(): { readonly command: string; readonly args: readonly string[] };
  /**
   * Loads the compiler. It is only called in the compiler's own process, where a source that crashes the compiler harms nothing
   * else: so import large, native and fallible modules in here. That process has no network, no environment variables and no
   * standard streams (see `lockdown.ts`).
   */
  loadCompiler(): Promise<Compile>;
}
