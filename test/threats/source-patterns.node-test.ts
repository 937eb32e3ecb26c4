import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Expression, parseSync, type Program, Visitor } from 'oxc-parser';
import { testPackages } from '../packages/packages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Module {
  file: string;
  code: string;
  program: Program;
}

function parseModule(file: string, code: string): Module {
  const { program, errors } = parseSync(file, code);
  assert.deepEqual(errors, [], file);
  return { file, code, program };
}

/** The modules that a pattern of paths names, parsed. Throws where there are none: a test would find nothing wrong in them. */
function modulesIn(pattern: string): Module[] {
  const files = globSync(pattern, { cwd: root });
  assert.ok(files.length > 0, `${pattern} names no file`);
  return files.map((file) => parseModule(file, readFileSync(root + file, 'utf8')));
}

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
const tools = await testPackages();
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

/** What holds a secret, or what is made of one, by its name. */
const SECRET = /token|secret|hash|salt|signature|cookie/i;

/** What compares texts byte by byte, and so tells by its time how much of them is the same. */
const TELLING = new Set([
  'includes',
  'startsWith',
  'endsWith',
  'indexOf',
  'localeCompare',
  'compare',
  'equals',
]);

/** Comparisons with a secret that take a time of their own. */
function comparisonsIn({ code, program }: Module): string[] {
  const found: string[] = [];
  const textOf = ({ start, end }: { start: number; end: number }) => code.slice(start, end);
  const isPlain = (node: Expression) =>
    node.type === 'Literal' ||
    (node.type === 'Identifier' && node.name === 'undefined') ||
    (node.type === 'UnaryExpression' && node.operator === 'typeof');
  new Visitor({
    BinaryExpression(node) {
      const { left, right, operator } = node;
      if (!/^[!=]==?$/.test(operator) || isPlain(left) || isPlain(right)) return;
      if (SECRET.test(textOf(left)) || SECRET.test(textOf(right))) found.push(textOf(node));
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (TELLING.has(callee.property.name) && SECRET.test(textOf(node))) found.push(textOf(node));
    },
  }).visit(program);
  return found;
}

describe('the comparison of a token, a code or a signature', () => {
  test('is found where it goes byte by byte', () => {
    const sample = parseModule(
      'sample.ts',
      'if (token === stored || hash != row.code_hash || list.includes(token)) go(); if (token === undefined) stop();',
    );
    assert.deepEqual(comparisonsIn(sample), [
      'token === stored',
      'hash != row.code_hash',
      'list.includes(token)',
    ]);
  });

  test('is a look-up by hash in the database, or takes constant time', () => {
    const found = ['service/src/**/*.ts', 'demo/vendor/**/*.ts']
      .flatMap(modulesIn)
      .flatMap((module) => comparisonsIn(module).map((comparison) => `${module.file}: ${comparison}`));
    assert.deepEqual(found, [
      // The kind of a token is in its prefix, for everyone to read.
      'service/src/accounts/tokens.ts: token.startsWith(prefixes[kind])',
    ]);
  });

  test('is made, for a code that could be guessed, by the one function that takes as long for any', () => {
    const [tokens] = modulesIn('service/src/accounts/tokens.ts');
    const [verification] = modulesIn('service/src/accounts/verification.ts');
    assert.match(tokens?.code ?? '', /import \{[^}]*\btimingSafeEqual\b[^}]*\} from 'node:crypto';/);
    assert.match(
      tokens?.code ?? '',
      /sameDigest = [^;]*=>\s*a\.byteLength === b\.byteLength && timingSafeEqual\(a, b\);/,
    );
    assert.match(verification?.code ?? '', /if \(!sameDigest\(hash, code\.hash\)\) \{/);
    // A session's cookie is signed; Web Crypto compares the signature.
    assert.match(modulesIn('demo/vendor/sign-in.ts')[0]?.code ?? '', /await getSignedCookie\(c, secret,/);
  });

  test('never has the token itself: every query of the database is by its hash', () => {
    const tables = modulesIn('service/src/storage/tables/*-tokens.ts').concat(
      modulesIn('service/src/storage/tables/environments.ts'),
    );
    // A condition or a value that is a token is its hash.
    const about = tables.flatMap(({ code }) => code.match(/\btoken_hash\b[^\n]*/g) ?? []);
    const used = about.filter((one) => /^token_hash(?:', '='|:)/.test(one));
    assert.ok(used.length >= 4);
    for (const one of used) assert.match(one, /^token_hash(?:', '=',|:) (?:hashToken\(token\)|hash\))/);
    for (const { code } of tables) assert.doesNotMatch(code, /const hash = (?!hashToken\(token\);)/);
    // A column named `token` would be one that holds it.
    const schema = modulesIn('service/src/storage/migrations/*.ts')
      .map(({ code }) => code)
      .join();
    assert.match(schema, /addColumn\('token_hash', bytes/);
    assert.doesNotMatch(schema, /addColumn\('(?:token|code|secret)'/);
  });
});
