import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Visitor } from 'oxc-parser';
import { packagesOf } from '../../tools/setup/install-packages.ts';
import { type Module, modulesIn, parseModule } from './modules.ts';

/** What is used of `recheck` 4, which is installed when it is first used. */
interface Recheck {
  check(
    source: string,
    flags: string,
    options: { timeout: number },
  ): Promise<{ status: 'safe' | 'vulnerable' | 'unknown'; complexity?: { type: string } }>;
}

// In this process alone: the native ones are not there on every system, and start more slowly than this takes.
process.env['RECHECK_BACKEND'] = 'pure';
const tools = await packagesOf(fileURLToPath(new URL('tools/', import.meta.url)));
const recheck = tools('recheck') as Recheck;
/**
 * As much time as a busy machine may need: without a verdict a pattern counts as slow. What may be repeated a hundred times or more
 * is checked as though it had no end, which takes no less time to match, and much less to check.
 */
const check = (source: string, flags: string) => {
  const endless = source.replace(/\{([01]),\d{3,}\}/g, (_, least) => (least === '0' ? '*' : '+'));
  return recheck.check(endless, flags, { timeout: 120_000 });
};

interface Pattern {
  source: string;
  flags: string;
}

/** Every pattern that a module writes down, and each call that makes one of text. */
function patternsIn({ code, program }: Module): { literals: Pattern[]; made: string[] } {
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

describe("the project's regular expressions", () => {
  const found = modulesIn('{src,service/src,editor/src,demo}/**/*.{ts,tsx}').map((one) => ({
    file: one.file,
    ...patternsIn(one),
  }));

  test('are found, and those that take exponential or polynomial time are recognised', async () => {
    assert.ok(found.flatMap(({ literals }) => literals).length > 50);
    const sample = 'const a = /^(a|a)*$/u; const b = "/x/"; const c = new RegExp(b);';
    const { literals, made } = patternsIn(parseModule('sample.ts', sample));
    assert.deepEqual([literals, made], [[{ source: '^(a|a)*$', flags: 'u' }], ['new RegExp(b)']]);
    for (const [source, status] of [
      ['^(a|a)*$', 'vulnerable'],
      ['\\s+$', 'vulnerable'],
      ['^a+$', 'safe'],
    ] as const)
      assert.equal((await check(source, '')).status, status, source);
  });

  test('take linear time, whatever the text', async () => {
    const all = new Map(
      found.flatMap(({ file, literals }) =>
        literals.map((pattern) => [JSON.stringify(pattern), { file, ...pattern }] as const),
      ),
    );
    const slow: string[] = [];
    for (const { file, source, flags } of all.values()) {
      const { status } = await check(source, flags);
      if (status !== 'safe') slow.push(`${file}: /${source}/${flags} is ${status}`);
    }
    assert.deepEqual(slow, []);
  });

  test('are literals, except for one that is made of the name of a plugin’s file', async () => {
    assert.deepEqual(
      found.flatMap(({ file, made }) => made.map((call) => `${file}: ${call}`)),
      ["service/src/sandbox/stack-trace.ts: new RegExp(`^(.*)${escape(file)}:(\\\\d+):(\\\\d+)(.*)$`, 's')"],
    );
    assert.equal((await check(String.raw`^(.*)plugin\.ts:(\d+):(\d+)(.*)$`, 's')).status, 'safe');
  });
});
