import type { FileSystem } from 'typescript/unstable/fs';
import { compilerOptions, sandboxDeclarations, textTypes } from './declarations.ts';
import type { CheckedLanguage, PluginTypes } from './declarations.ts';
import { compilerDirectory } from './native-compiler.ts';

/** The folder of the compiler's project, which does not exist on the disk. */
export const root = '/plugin';

export const projectFile = `${root}/tsconfig.json`;
/** The file that checks the type of the plugin's `run`; see {@link signatureOf}. */
export const signatureFile = `${root}/signature.ts`;
const declarationsFile = `${root}/types.d.ts`;
const sandboxFile = `${root}/sandbox.d.ts`;

/** The files of the compiler's project, in memory instead of on the disk. */
export class ProjectFiles {
  /** The path of the plugin. */
  readonly plugin: string;
  readonly #isJavaScript: boolean;
  readonly #texts: Map<string, string>;

  constructor(language: CheckedLanguage) {
    this.#isJavaScript = language === 'javascript';
    this.plugin = `${root}/plugin.${this.#isJavaScript ? 'js' : 'ts'}`;
    const files = [signatureFile, sandboxFile, declarationsFile];
    this.#texts = new Map([
      [projectFile, JSON.stringify({ compilerOptions: compilerOptions(language), files })],
      [sandboxFile, sandboxDeclarations],
      [declarationsFile, textTypes.declarations],
      [signatureFile, signatureOf(textTypes, this.#isJavaScript)],
      [this.plugin, ''],
    ]);
  }

  /** The file system that the compiler sees: these files, and the compiler's own declarations of the language. */
  get fileSystem(): FileSystem {
    const libraries = `${compilerDirectory().replaceAll('\\', '/')}/`;
    return {
      // `undefined` makes the compiler read the file from the disk; `null` stands for a file that does not exist.
      readFile: (path) =>
        this.#texts.get(path) ?? (path.startsWith(libraries) && !path.includes('/..') ? undefined : null),
      fileExists: (path) => this.#texts.has(path),
      directoryExists: (path) => path === root || path === '/',
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: (path) => path,
    };
  }

  /** Replaces the plugin, and the types of its `run`. Returns the paths of the files that the compiler has to read again. */
  update(plugin: string, types: PluginTypes): string[] {
    const files = [
      [this.plugin, plugin],
      [declarationsFile, types.declarations],
      [signatureFile, signatureOf(types, this.#isJavaScript)],
    ] as const;
    return files.flatMap(([file, text]) => {
      // The compiler takes no lone surrogates. The character that replaces one has the same length.
      const wellFormed = text.toWellFormed();
      if (file !== this.plugin && this.#texts.get(file) === wellFormed) return [];
      this.#texts.set(file, wellFormed);
      return [file];
    });
  }
}

/**
 * A module that checks the type of the plugin's `run`. JavaScript declares no return types, and for `{ state: 'new' }` the
 * compiler infers `{ state: string }`. So for JavaScript, the literals and tuples in the output's type are widened to types such
 * as `string`, and to arrays. The run checks the output exactly.
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

/** A message about `run` without the helper types of {@link signatureOf}. */
export function removeLooseTypes(message: string): string {
  const shorter = message.replaceAll(/\bLoose(?:Object)?<([^<>]*)>/g, '$1');
  return shorter === message ? message : removeLooseTypes(shorter);
}
