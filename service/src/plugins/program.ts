import { createHash } from 'node:crypto';
import type { CompiledSchemas } from './schemas.ts';

/**
 * What the sandbox can run: the output of a toolchain, with the schemas that it was built with. Plain data, to be kept as JSON.
 */
export type Program = CompiledProgram & {
  /** What goes in and comes out is JSON, and is checked. Without, it is text. */
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
      /** From `code` back to the user's source: a source map's `mappings`. None when they are the same. */
      readonly mappings?: string;
    }
  | {
      readonly kind: 'wasm';
      /** An AssemblyScript module with its runtime exported and its memory imported, in base64. */
      readonly module: string;
    }
  | {
      /** No plugin: regular expressions and samples are looked at, as `namespace-check.ts` has it. Never stored. */
      readonly kind: 'check';
    };

export type ScriptProgram = Extract<Program, { kind: 'script' }>;
export type WasmProgram = Extract<Program, { kind: 'wasm' }>;

/** A program that is stored once, however many builds and versions refer to it. */
export interface StoredProgram {
  /** SHA-256 of the program's JSON, in lower-case hex. Programs with the same hash are the same program. */
  readonly hash: string;
  /** Whether it has types, so that nobody has to load it to know. */
  readonly isTyped: boolean;
  /**
   * Reads and parses the program: needed only where no runner knows it yet. Rejects when it was removed since it was
   * looked up, because the build that referred to it was replaced.
   */
  readonly load: () => Promise<Program>;
}

/** What a version runs, with the version's name, such as `v1.0.0`. */
export interface StoredVersion extends StoredProgram {
  readonly version: string;
  /** The plugin's number, which one that is made anew under the name of a deleted one does not share. */
  readonly pluginId: number;
}

/** The hash that a program is stored by, from its JSON. */
export const hashOfProgram = (json: string): string => createHash('sha256').update(json).digest('hex');

/** A program that is in memory already. */
export const loadedProgram = (program: Program): StoredProgram => ({
  hash: hashOfProgram(JSON.stringify(program)),
  isTyped: program.types !== undefined,
  load: async () => program,
});
