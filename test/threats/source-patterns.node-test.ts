import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Expression, Visitor } from 'oxc-parser';
import { type Module, modulesIn, parseModule, patternsIn, projectPatterns } from './source-modules.ts';

// How long a pattern takes is checked by pattern-times.release-test.ts.
describe("the project's regular expressions", () => {
  const found = projectPatterns();

  test('are found', () => {
    assert.ok(found.flatMap(({ literals }) => literals).length > 50);
    const sample = 'const a = /^(a|a)*$/u; const b = "/x/"; const c = new RegExp(b);';
    const { literals, made } = patternsIn(parseModule('sample.ts', sample));
    assert.deepEqual([literals, made], [[{ source: '^(a|a)*$', flags: 'u' }], ['new RegExp(b)']]);
  });

  test('are literals, except for one that is made of the name of a plugin’s file', () => {
    assert.deepEqual(
      found.flatMap(({ file, made }) => made.map((call) => `${file}: ${call}`)),
      [
        "service/src/sandbox/script/stack-trace.ts: new RegExp(`^(.*)${escape(file)}:(\\\\d+):(\\\\d+)(.*)$`, 's')",
      ],
    );
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
      'service/src/tokens.ts: token.startsWith(prefixes[kind])',
      // Whether a response of the granted upstream repeats what was sent to it: the plugin gets the same answer after any time.
      'service/src/outbound/calls.ts: bytes.includes(secret)',
      "service/src/outbound/calls.ts: bytes.includes(secret, 0, 'latin1')",
      'service/src/outbound/calls.ts: text.includes(secret)',
      // The id of a token is no secret: lists have it.
      'service/src/http/environment/environment-tokens.ts: id === caller.tokenId',
    ]);
  });

  test('is made, for a code that could be guessed, by the one function that takes as long for any', () => {
    const [tokens] = modulesIn('service/src/tokens.ts');
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
