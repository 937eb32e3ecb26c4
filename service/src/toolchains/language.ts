import type { PluginSource } from '../plugins/records.ts';
import type { CompiledProgram } from '../plugins/program.ts';
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
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles the one file that a plugin is, whose `run` is given and gives what `types` says. What it throws is a fault of the
 * toolchain.
 */
export type Compile = (source: string, types: PluginTypes) => Compilation | Promise<Compilation>;

/** One language toolchain: the default export of one file in `languages/`. */
export interface Language {
  /** The value of `lang` and of the language path segment: lower-case letters, digits and hyphens. */
  readonly identifier: string;
  /** The name that people read. */
  readonly pretty: string;
  /** Two to four letters. */
  readonly short: string;
  /** A new plugin: source that works as it is, and tests for it. Any text is possible as a name. */
  template(plugin: { pluginName: string; namespace: string }): PluginSource;
  /**
   * The source of a new plugin in a namespace with types, which works as it is where a value of the output is known.
   * @param types.output JSON of a value that fits the output; `undefined` where none is known
   */
  typedTemplate(types: { readonly output: string | undefined }): string;
  /** Throws what keeps the toolchain from working on this machine. Quick: the service starts with it. */
  probe(): void;
  /** What its compiler needs beyond reading its own files: native add-ons. */
  readonly needs?: readonly 'addons'[];
  /** Options of Node for the compiler's process, such as V8's. */
  readonly engineOptions?: readonly string[];
  /**
   * A native program that the compiler works with. The compiler's process may start nothing, so that the service starts it,
   * and hands the compiler its output as descriptor 0 and its input as descriptor 1.
   */
  helper?(): { readonly command: string; readonly args: readonly string[] };
  /**
   * Loads the compiler. Called in the compiler's own process alone, where source that breaks or floods it takes nothing else
   * along: import what is large, native or fallible here. That process has no network, no variables and no standard streams
   * (see `lockdown.ts`).
   */
  loadCompiler(): Promise<Compile>;
}
