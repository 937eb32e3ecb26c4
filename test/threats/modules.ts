import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Program, parseSync } from 'oxc-parser';

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Module {
  file: string;
  code: string;
  program: Program;
}

export function parseModule(file: string, code: string): Module {
  const { program, errors } = parseSync(file, code);
  assert.deepEqual(errors, [], file);
  return { file, code, program };
}

/** The modules that a pattern of paths names, parsed. Throws where there are none: a test would find nothing wrong in them. */
export function modulesIn(pattern: string): Module[] {
  const files = globSync(pattern, { cwd: root });
  assert.ok(files.length > 0, `${pattern} names no file`);
  return files.map((file) => parseModule(file, readFileSync(root + file, 'utf8')));
}
