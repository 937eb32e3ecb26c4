import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Figure } from '../bench/figures.ts';
import { unpackPackage } from './debian-package.ts';

/**
 * A hundred files of CPython's own tests, which name no file, process, socket, thread or variable of the environment, and no module
 * that Python 3.14 has no more. Not among them are those of the bytecode, which every version has another of.
 */
const names = `
__future__ abc abstract_numbers augassign binop bisect charmapcodec cmd codeccallbacks codeop collections colorsys compare 
complex contains copy copyreg dataclasses decorators descrtut dictcomps dictviews doctest2 dynamic dynamicclassattribute 
errno except_star exception_group exception_variations extcall flufl fractions funcattrs future3 future4 future5 
generator_stop genexps getopt global grammar heapq hmac html http_cookies index int int_literal ipaddress isinstance iterlen 
keyword keywordonlyarg listcomps longexp metaclass named_expressions numeric_tower operator pep646_syntax pickletools 
positional_only_arg pow pprint print property range richcmp scope secrets setcomps shlex slice sort statistics strftime 
string stringprep structseq subclassinit super symtable syntax textwrap timeit type_annotations type_comments typechecks 
unary unicode_identifiers unittest unpack unpack_ex urlparse userdict userlist userstring utf8source with xml_dom_minicompat 
`
  .trim()
  .split(/\s+/);

/** Debian's packages of the tests, and of what they share. */
const packages = ['libpython3.11-testsuite', 'libpython3.11-stdlib'];

/** What came of the tests of a file. */
export interface Outcome {
  readonly ran: number;
  readonly skipped: number;
  /** What was wrong, by the test's name. A file that cannot be loaded is one test. */
  readonly failed: Readonly<Record<string, string>>;
}

/** Which share of CPython's own tests passes in the sandbox: those of Debian's Python 3.11, with the interpreter's version. */
export async function measureCpython(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cpython-tests-'));
  try {
    const sources = readSources(folder);
    // In a thread, which has as much stack as runners have.
    const worker = new Worker(new URL('./cpython-worker.ts', import.meta.url));
    const outcomes: Outcome[] = [];
    for (const name of names) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      worker.postMessage({ name: `test.test_${name}`, sources: withImports(`test.test_${name}`, sources) });
      const [outcome] = (await once(worker, 'message')) as [Outcome];
      outcomes.push(outcome);
      for (const [test, reason] of Object.entries(outcome.failed)) {
        console.log(`  ${test}: ${reason.slice(0, 200)}`);
      }
    }
    await worker.terminate();
    const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((all, one) => all + count(one), 0);
    const failures = sum(({ failed }) => Object.keys(failed).length);
    const ran = sum((one) => one.ran);
    const whole = outcomes.filter(({ failed }) => !Object.keys(failed).length).length;
    return [
      {
        name: "CPython's own tests that pass",
        value: (100 * (ran - failures)) / ran,
        limit: 95,
        bound: 'at least',
        unit: '%',
        note: `${ran - failures} of ${ran}, ${sum(({ skipped }) => skipped)} are skipped; all of a file in ${whole} of ${names.length}`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The sources of `test` by the names of their modules. Fetches the packages, and installs nothing. */
function readSources(folder: string): Map<string, string> {
  const sources = new Map<string, string>();
  for (const name of packages) unpackPackage(name, folder);
  const root = join(folder, 'files/usr/lib/python3.11/test');
  assert.ok(existsSync(root), 'The packages have no tests.');
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.py')) continue;
    const module = `test.${path.slice(0, -'.py'.length).replaceAll('/', '.')}`.replace(/\.__init__$/, '');
    sources.set(module, readFileSync(join(root, path), 'utf8'));
  }
  return sources;
}

/** The sources of a module and of all that it imports from `test`. */
function withImports(name: string, sources: ReadonlyMap<string, string>, found = new Map<string, string>()) {
  const source = sources.get(name);
  if (source === undefined || found.has(name)) return found;
  found.set(name, source);
  const [, parent] = /^(.+)\.\w+$/.exec(name) ?? [];
  if (parent) withImports(parent, sources, found);
  for (const [, written = '', list = ''] of source.matchAll(
    /^\s*from\s+((?:test\b|\.)[\w.]*)\s+import\s+(\([^)]*\)|.+)$/gm,
  )) {
    const module = written.startsWith('.') ? `${name}${written}` : written;
    withImports(module, sources, found);
    for (const [word] of list.matchAll(/\w+/g)) withImports(`${module}.${word}`, sources, found);
  }
  for (const [, module = ''] of source.matchAll(/^\s*import\s+(test(?:\.\w+)+)/gm)) {
    withImports(module, sources, found);
  }
  return found;
}
