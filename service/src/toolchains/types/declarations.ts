/*
 * The declarations of everything that a plugin can use, for TypeScript's compiler and language server: the language's own
 * library, the globals that the sandbox adds, and the types of the input and output of `run`.
 */

import type { Connection } from '../../plugins/connections.ts';
import type { LibraryInterface } from '../../plugins/libraries.ts';
import { connectedDeclarations } from './connected-declarations.ts';
import { webDeclarations } from './web-declarations.ts';

/** The sandbox's globals besides those of the language itself. No DOM, nothing of Node, no network, no timers. */
export const sandboxDeclarations = `/** Writes to the plugin's log. */
interface Console {
${(
  [
    ['log', 'Writes to the log.'],
    ['info', 'Writes to the log.'],
    ['debug', 'Writes to the log, as a detail for whoever looks for a fault.'],
    ['warn', 'Writes a warning to the log.'],
    ['error', 'Writes an error to the log. The run goes on.'],
  ] as const
)
  .map(([name, description]) => `  /** ${description} */\n  ${name}(...values: unknown[]): void;`)
  .join('\n')}
}
/** Writes to the plugin's log. */
declare const console: Console;
/** Calls a function once the present one and what it waits for has come to its end. */
declare function queueMicrotask(task: () => void): void;
/** Measures how long a part of a run takes. */
declare const performance: {
  /** Milliseconds since the run began, with parts of them. */
  now(): number;
};
/** Reads Base64: text whose characters stand for one byte each. */
declare function atob(base64: string): string;
/** Writes Base64. Each character of the text stands for one byte, so none may be past U+00FF. */
declare function btoa(bytes: string): string;
${webDeclarations}
`;

/** The types of the input and output of `run`, in TypeScript. */
export interface PluginTypes {
  readonly input: string;
  readonly output: string;
  /** Global declarations that the two refer to, such as the types of a namespace, and those of libraries; may be empty. */
  readonly declarations: string;
  /** What it may import (default: nothing). */
  readonly libraries?: readonly Pick<LibraryInterface, 'name' | 'exports'>[];
  /** Whether it may make calls (default false). */
  readonly isConnected?: boolean;
}

/** The types of a plugin from text to text. */
export const textTypes: PluginTypes = { input: 'string', output: 'string', declarations: '' };

/**
 * The types of a plugin, from its namespace's declarations of `Input` and `Output`; without declarations it is from text to text.
 * `libraries`: what it may import. `connections`: what it may reach.
 */
export function pluginTypes(
  {
    declarations,
    libraries = [],
  }: { readonly declarations: string; readonly libraries?: readonly LibraryInterface[] },
  connections: readonly Connection[] = [],
): PluginTypes {
  const { input, output } = declarations ? { input: 'Input', output: 'Output' } : textTypes;
  const connected = connections.length ? connectedDeclarations(connections) : '';
  return {
    input,
    output,
    declarations: declarations + connected + libraryDeclarations(libraries),
    ...(libraries.length && {
      libraries: libraries.map(({ name, exports }) => ({ name, exports })),
    }),
    ...(connections.length && { isConnected: true }),
  };
}

/**
 * Libraries as modules that TypeScript knows without looking for files. One without declarations is of any type. The declarations
 * parsed alone when the library was published, so that they cannot reach beyond their braces.
 */
const libraryDeclarations = (libraries: readonly LibraryInterface[]): string =>
  libraries
    .map(({ name, declarations }) =>
      declarations === undefined
        ? `declare module ${JSON.stringify(name)};\n`
        : `declare module ${JSON.stringify(name)} {\n${declarations}\n}\n`,
    )
    .join('');

export type CheckedLanguage = 'javascript' | 'typescript';

/** Options of the compiler for the one file that a plugin is. */
export const compilerOptions = (language: CheckedLanguage): Readonly<Record<string, unknown>> => ({
  target: 'es2025',
  lib: ['es2025'],
  types: [],
  module: 'esnext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  isolatedModules: true,
  noEmit: true,
  ...(language === 'typescript'
    ? { strict: true }
    : // In JavaScript, misspelt names are worth reporting, and values that might be null are not.
      { allowJs: true, checkJs: true, strict: false }),
});
