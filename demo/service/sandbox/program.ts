import { createHash } from 'node:crypto';

/** What the sandbox can run: the output of a toolchain. Plain data, to be kept as JSON. */
export type Program =
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
    };

export type ScriptProgram = Extract<Program, { kind: 'script' }>;
export type WasmProgram = Extract<Program, { kind: 'wasm' }>;

/** A program by its hash. It is loaded only when a runner does not have it yet. */
export interface StoredProgram {
  /** SHA-256 of the program's JSON, in hex: equal hashes mean the same program. */
  readonly hash: string;
  load(): Program;
}

/** A program that is in memory already, as it would come from storage. */
export const storedProgram = (program: Program): StoredProgram => ({
  hash: createHash('sha256').update(JSON.stringify(program)).digest('hex'),
  load: () => program,
});
