import binaryen from 'binaryen';
import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { StoredProgram } from '../../../service/src/plugins/program.ts';

/** A program of these bytes. */
export const raw = (bytes: Uint8Array): StoredProgram =>
  loadedProgram({ kind: 'wasm', module: Buffer.from(bytes).toString('base64') });

function assemble(text: string): StoredProgram {
  const module = binaryen.parseText(text);
  module.setFeatures(binaryen.Features.All);
  const bytes = module.emitBinary();
  module.dispose();
  return raw(bytes);
}

/** What AssemblyScript's modules import, and export of their runtime. */
export const memory = '(import "env" "memory" (memory 16 512))';
export const allocate = '(func (export "__new") (param i32 i32) (result i32) (i32.const 1024))';
export const pin = '(func (export "__pin") (param i32) (result i32) (local.get 0))';
/** Puts the header of a string before the input, and answers with the input. */
export const echo = `(func (export "run") (param i32) (result i32)
  (i32.store (i32.const 1016) (i32.const 2)) (i32.store (i32.const 1020) (i32.const 4)) (local.get 0))`;

/** A program of these fields of a module, in WebAssembly's text format. */
export const moduleOf = (...parts: string[]) => assemble(`(module ${parts.join('\n')})`);
