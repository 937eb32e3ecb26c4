/*
 * What a plugin can use, as TypeScript's compiler and language server are told it: the language's own library, what the sandbox
 * adds to it, and the types of what `run` is given and gives.
 */

/** What the sandbox has beside the language itself. No DOM, nothing of Node, no network, no timers. */
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
  .map(([name, words]) => `  /** ${words} */\n  ${name}(...values: unknown[]): void;`)
  .join('\n')}
}
/** Writes to the plugin's log. */
declare const console: Console;
/** Calls a function once the present one and what it waits for has come to its end. */
declare function queueMicrotask(task: () => void): void;
/** Tells how long a part of a run takes. */
declare const performance: {
  /** Milliseconds since the run began, with parts of them. */
  now(): number;
};
/** Reads Base64: text whose characters stand for one byte each. */
declare function atob(base64: string): string;
/** Writes Base64. Each character of the text stands for one byte, so none may be past U+00FF. */
declare function btoa(bytes: string): string;
`;

/** What `run` is given and gives, in the words of TypeScript, and what these words mean. */
export interface PluginTypes {
  readonly input: string;
  readonly output: string;
  /** Further declarations, such as the types of a namespace; global ones. Empty where there are none. */
  readonly declarations: string;
}

/** Of a plugin that takes text and answers text. */
export const textTypes: PluginTypes = { input: 'string', output: 'string', declarations: '' };

/** Of a plugin whose namespace has types, as declarations of `Input` and `Output`; of one that takes text where they are empty. */
export const pluginTypes = (declarations: string): PluginTypes =>
  declarations ? { input: 'Input', output: 'Output', declarations } : textTypes;

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
    : // Who writes no types wants to hear of misspelt names, not of what might be null.
      { allowJs: true, checkJs: true, strict: false }),
});
