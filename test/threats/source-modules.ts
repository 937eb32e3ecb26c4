import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, type Program, Visitor } from 'oxc-parser';
import { root } from '../../tools/run-node.js';

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
  return files.map((file) => parseModule(file, readFileSync(join(root, file), 'utf8')));
}

interface Pattern {
  source: string;
  flags: string;
}

/** Every pattern that a module writes down, and each call that makes one of text. */
export function patternsIn({ code, program }: Module): { literals: Pattern[]; made: string[] } {
  const literals: Pattern[] = [];
  const made: string[] = [];
  const seeCall = ({ callee, start, end }: { callee: object; start: number; end: number }) => {
    if ('name' in callee && callee.name === 'RegExp') made.push(code.slice(start, end));
  };
  new Visitor({
    Literal(node) {
      if ('regex' in node) literals.push({ source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: seeCall,
    CallExpression: seeCall,
  }).visit(program);
  return { literals, made };
}

/** The patterns of all that is shipped, and of the demo, by file. */
export const projectPatterns = () =>
  modulesIn('{src,service/src,editor/src,demo}/**/*.{ts,tsx}').map((one) => ({
    file: one.file,
    ...patternsIn(one),
  }));
