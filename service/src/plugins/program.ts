import { createHash } from 'node:crypto';
import type { CompiledSchemas } from './schemas.ts';

/** A program that the sandbox can run: the output of a toolchain, with the schemas of the build. It is stored as JSON. */
export type Program = CompiledProgram & {
  /** With types, input and output are JSON and are checked; without, they are text. */
  readonly types?: CompiledSchemas;
};

/** The output of a toolchain. */
export type CompiledProgram =
  | {
      readonly kind: 'script';
      /** An ES module that exports `run`. */
      readonly code: string;
      /** The name of the user's source in stack traces. */
      readonly file: string;
      /** The `mappings` of a source map from `code` to the user's source; missing where the two are the same. */
      readonly mappings?: string;
      /** The sources of the libraries that it imports, by their names; missing where it imports none. */
      readonly libraries?: Readonly<Record<string, string>>;
    }
  | {
      /** Only AssemblyScript builds to this kind. It has this name because stored programs have it. */
      readonly kind: 'wasm';
      /** An AssemblyScript module with its runtime exported and its memory imported, in base64. */
      readonly module: string;
    }
  | {
      readonly kind: 'python';
      /** The plugin's source, which is compiled where it runs: compiled code fits one version of Python only. */
      readonly code: string;
    }
  | {
      /** Not a plugin: checks regular expressions and samples, see `namespace-check.ts`. It is never stored. */
      readonly kind: 'check';
    };

export type ScriptProgram = Extract<Program, { kind: 'script' }>;
export type AssemblyScriptProgram = Extract<Program, { kind: 'wasm' }>;

/** A program that is stored once, however many builds and versions refer to it. */
export interface StoredProgram {
  /** SHA-256 of the program's JSON, in lower-case hex. Programs with the same hash are the same program. */
  readonly hash: string;
  /** Whether the program has types, which is known without loading it. */
  readonly isTyped: boolean;
  /**
   * Reads and parses the program, for a runner that does not have it yet. Rejects when the program was removed since it was looked
   * up, because another build has replaced the one that referred to it.
   */
  readonly load: () => Promise<Program>;
}

/** The program of a version, with the version's name, such as `v1.0.0`. */
export interface StoredVersion extends StoredProgram {
  readonly version: string;
  /** The plugin's id. A plugin that is created again after its deletion has another one. */
  readonly pluginId: number;
}

/** About how many bytes a program takes. */
export function sizeOfProgram(program: Program): number {
  const { inputCheck = '', outputCheck = '' } = program.types ?? {};
  const checks = inputCheck.length + outputCheck.length;
  switch (program.kind) {
    case 'wasm':
      return 1 + checks + program.module.length;
    case 'script':
      return Object.values(program.libraries ?? {}).reduce(
        (sum, text) => sum + text.length,
        1 + checks + program.code.length + (program.mappings ?? '').length,
      );
    case 'python':
      return 1 + checks + program.code.length;
    default:
      return 1 + checks;
  }
}

/** The hash by which a program is stored, computed from its JSON. */
export const hashOfProgram = (json: string): string => createHash('sha256').update(json).digest('hex');

/** A program that is in memory already. */
export const loadedProgram = (program: Program): StoredProgram => ({
  hash: hashOfProgram(JSON.stringify(program)),
  isTyped: program.types !== undefined,
  load: async () => program,
});

/** Loads a program into memory, where it stays although the database may remove it. Rejects as its `load`. */
export async function loadStoredProgram({ hash, isTyped, load }: StoredProgram): Promise<StoredProgram> {
  const program = await load();
  return { hash, isTyped, load: async () => program };
}
