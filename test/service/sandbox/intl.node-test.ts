import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { answerIntl } from '../../../service/src/sandbox/script/intl-host.ts';
import { Logs } from '../../../service/src/sandbox/logs.ts';
import { ScriptRunner } from '../../../service/src/sandbox/script/script-runner.ts';
import { assertSameAsNode, inSandbox } from './sandbox-expressions.ts';

// Plugins have UTC where they name no zone.
before(() => {
  process.env['TZ'] = 'UTC';
});

const locales = ['de-DE', 'en-US', 'en-IN', 'fr-FR', 'es-MX', 'ja-JP', 'ar-EG', 'hi-IN', 'pt-BR', 'ru-RU'];

/** For one locale, `l`. */
const cases = (l: string) => [
  ...['0.125', '-1234567.891', '1e21', 'NaN', '12345678901234567890n', '"98765432109876543210.5"'].map(
    (value) => `new Intl.NumberFormat('${l}').format(${value})`,
  ),
  ...[
    '{ style: "currency", currency: "EUR" }',
    '{ style: "currency", currency: "JPY", currencyDisplay: "name" }',
    '{ style: "percent", maximumFractionDigits: 1 }',
    '{ style: "unit", unit: "kilometer-per-hour", unitDisplay: "long" }',
    '{ notation: "compact", compactDisplay: "long" }',
    '{ minimumFractionDigits: 2, maximumFractionDigits: 4, useGrouping: false }',
    '{ maximumSignificantDigits: 3, signDisplay: "always", roundingMode: "floor" }',
    '{ notation: "scientific" }',
  ].flatMap((options) => [
    `(4567.891).toLocaleString('${l}', ${options})`,
    `new Intl.NumberFormat('${l}', ${options}).formatToParts(-4567.891)`,
  ]),
  `new Intl.NumberFormat('${l}', { style: 'currency', currency: 'USD' }).formatRange(3, 5)`,
  ...['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map(
    (method) => `new Date(1.7e12).${method}('${l}')`,
  ),
  ...[
    '{ dateStyle: "full", timeStyle: "long" }',
    '{ dateStyle: "short", timeZone: "America/New_York" }',
    '{ weekday: "short", month: "long", day: "numeric" }',
    '{ hour: "numeric", minute: "2-digit", hour12: true, timeZone: "Asia/Kolkata" }',
    '{ year: "2-digit", era: "short", fractionalSecondDigits: 2, second: "numeric" }',
  ].flatMap((options) => [
    `new Date(1.7e12).toLocaleString('${l}', ${options})`,
    `new Intl.DateTimeFormat('${l}', ${options}).formatToParts(-1e12)`,
  ]),
  `new Intl.DateTimeFormat('${l}', { dateStyle: 'medium' }).formatRange(1.7e12, 1.71e12)`,
  `[0, 1, 2, 3, 5, 11, 21, 1.5].map((n) => new Intl.PluralRules('${l}').select(n))`,
  `[1, 2, 3, 4, 11].map((n) => new Intl.PluralRules('${l}', { type: 'ordinal' }).select(n))`,
  `[[-1, 'day'], [2, 'weeks'], [0, 'year']].map(([n, unit]) => new Intl.RelativeTimeFormat('${l}', { numeric: 'auto' }).format(n, unit))`,
  `new Intl.RelativeTimeFormat('${l}', { style: 'short' }).formatToParts(-3, 'hour')`,
  `[[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((list) => new Intl.ListFormat('${l}', { type: 'disjunction' }).format(list))`,
  `['z', 'ä', 'a', 'Z', 'é', 'e', 'ö', 'æ', '10', '9', 'あ', 'я'].sort((a, b) => a.localeCompare(b, '${l}'))`,
  `['a10', 'a9', 'A1', 'ä2'].sort(new Intl.Collator('${l}', { numeric: true, sensitivity: 'base' }).compare)`,
  `[1234.5, new Date(0), 'x', null, [2.5]].toLocaleString('${l}')`,
  `new Float64Array([1234.5, 2]).toLocaleString('${l}')`,
  ...['NumberFormat', 'DateTimeFormat', 'PluralRules', 'RelativeTimeFormat', 'ListFormat', 'Collator'].map(
    (name) => `new Intl.${name}('${l}').resolvedOptions()`,
  ),
  `Intl.NumberFormat.supportedLocalesOf(['${l}', 'tlh'])`,
];

test('formats, rules and orders of ten locales are those of Node', async () => {
  const all = locales.flatMap(cases);
  assert.ok(all.length >= 300, `${all.length} cases`);
  await assertSameAsNode(all);
});

test('edges of the interface are as in Node', () =>
  assertSameAsNode([
    'new Date(NaN).toLocaleString("de")',
    'new Intl.DateTimeFormat("de").format(NaN)',
    'new Date(0).toLocaleDateString("de", { timeStyle: "short" })',
    'new Date(0).toLocaleTimeString("de", { dateStyle: "short" })',
    'new Intl.NumberFormat("de", { style: "currency" })',
    'new Intl.NumberFormat("de", { maximumFractionDigits: 1000 })',
    'new Intl.NumberFormat("de", { minimumFractionDigits: NaN })',
    'new Intl.NumberFormat("no locale")',
    'new Intl.NumberFormat([1])',
    'new Intl.NumberFormat(null)',
    'new Intl.NumberFormat("de", null)',
    'Intl.NumberFormat("de").format(1.5)',
    'Intl.PluralRules("de")',
    'Intl.Collator.prototype.resolvedOptions.call({})',
    'new Intl.NumberFormat(["tlh", "de"]).resolvedOptions().locale',
    'new Intl.NumberFormat("ar-u-nu-latn").format(1.5)',
    'new Intl.DateTimeFormat("de", { timeZone: "Mars/Olympus" })',
    'new Intl.ListFormat("de").format([1])',
    'new Intl.RelativeTimeFormat("de").format(1, "aeon")',
    'new Intl.NumberFormat("de").format.name + Intl.NumberFormat.length + Intl.NumberFormat.name',
    '(() => { const f = new Intl.NumberFormat("de"); return f.format === f.format && [1, 2].map(f.format); })()',
    '(() => { class Mine extends Intl.NumberFormat {} return new Mine("de") instanceof Mine && new Mine("de").format(1.5); })()',
    'String(Intl) + new Intl.Collator()',
    '"ıi".toLocaleUpperCase("tr") + "I".toLocaleLowerCase("lt") + "ß".toLocaleUpperCase()',
    '"a".localeCompare("b") + "\\ufeffa".localeCompare("a", "de") + "<null>".localeCompare("a")',
    '(() => { const list = [1]; list.push(list); return list.toLocaleString("de"); })()',
    'Intl.getCanonicalLocales(["DE-de", "en"])',
    'Intl.getCanonicalLocales("de\\n!numeric=true")',
    '"i".toLocaleUpperCase("tr\\n")',
    'Intl.supportedValuesOf("unit").length',
    'Intl.supportedValuesOf("nothing")',
    'new Intl.NumberFormat("")',
    'new Intl.NumberFormat("de,en")',
    'new Intl.NumberFormat(["de", ""])',
    'new Intl.NumberFormat({ length: 1, 0: { toString: () => "de,en" } })',
    'new Intl.NumberFormat("de\\n!useGrouping=false")',
    'Intl.NumberFormat.supportedLocalesOf("de\\nlocaleMatcher=x")',
    'new Intl.NumberFormat(5).resolvedOptions().locale === new Intl.NumberFormat().resolvedOptions().locale',
    'new Intl.NumberFormat("de", { minimumFractionDigits: 2n })',
    'new Intl.NumberFormat("de", { minimumFractionDigits: Symbol() })',
    'new Intl.NumberFormat("de", "text").format(1.5)',
    'new Intl.NumberFormat("de", () => {}).format(1.5)',
    'new Intl.NumberFormat("de", { style: { [Symbol.toPrimitive]: (hint) => hint === "string" ? "percent" : "no" } }).format(0.5)',
    'new Intl.NumberFormat("de", { style: Object.create(null) })',
    'new Intl.Collator("de", { numeric: { toString() { throw new URIError(); } } }).resolvedOptions().numeric',
    'new Intl.NumberFormat("de").format(Symbol())',
    'new Intl.NumberFormat("de").format({ [Symbol.toPrimitive]: () => null })',
    'new Intl.NumberFormat("de").format({ [Symbol.toPrimitive]: () => ({}) })',
    'new Intl.NumberFormat("de").format({ valueOf: () => 12345678901234567890n })',
    'new Intl.NumberFormat("de").format({ valueOf: () => ({}), toString: () => "98765432109876543210.5" })',
    'new Intl.NumberFormat("de").format(Object.create(null))',
    'new Intl.NumberFormat("de").format(new Proxy({}, { get() { throw new EvalError(); } }))',
    'new Intl.DateTimeFormat("de").format(1n)',
    'new Intl.DateTimeFormat("de").formatRange(1, 2n)',
    'new Intl.PluralRules("de").select(1n)',
    'new Intl.RelativeTimeFormat("de").format(1, Symbol())',
    '"a".localeCompare(Symbol())',
    'new Intl.Collator("de").compare("a", Symbol())',
    'new Intl.ListFormat("de").format(new Proxy(["a", "b"], {}))',
    'new Intl.ListFormat("de").format({ [Symbol.iterator]() { throw new EvalError(); } })',
    // What a plugin has done to the language before it formats.
    `(() => {
      const added = ['get', 'style', 'locale', '0', 'toJSON'];
      try {
        for (const name of added) Object.defineProperty(Object.prototype, name, { __proto__: null, value: 1, configurable: true });
        const format = new Intl.NumberFormat('de');
        return [format.format(1.5), format.formatToParts(1).length, format.resolvedOptions().style, 'a'.localeCompare('b')];
      } finally {
        for (const name of added) delete Object.prototype[name];
      }
    })()`,
  ]));

test('a plugin that names no locale and no zone has those of en-US and UTC', async () => {
  assert.deepEqual(
    await inSandbox([
      '(1234.5).toLocaleString()',
      'new Date(0).toLocaleString()',
      'new Intl.DateTimeFormat().resolvedOptions().timeZone',
    ]),
    ['"1,234.5"', '"1/1/1970, 12:00:00 AM"', '"UTC"'],
  );
});

test('an order of many texts, which are ranked in between, is that of Node', () =>
  assertSameAsNode([
    `(() => {
      const parts = ['an', 'Ber', 'chr', 'dö', 'el', 'Fri', 'gün', 'ı', 'é', 'e', '\\u0301', ' ', '-'];
      const names = Array.from({ length: 3000 }, (_, i) => parts[i % 13] + parts[(i * 7) % 11] + parts[(i * i) % 13] + (i % 900));
      return [names.toSorted((a, b) => a.localeCompare(b, 'de')), names.map((name) => ({ name })).sort((a, b) => a.name.localeCompare(b.name, 'sv', { sensitivity: 'base' }))];
    })()`,
  ]));

test('only known options are read, once, and as texts', async () => {
  const found = await inSandbox([
    `(() => {
      const read = [];
      const options = new Proxy({}, { get: (_, name) => { read.push(name); return undefined; }, ownKeys: () => { throw new Error('listed'); } });
      new Intl.ListFormat('de', options);
      return read;
    })()`,
    `(() => {
      let times = 0;
      const options = { get style() { times++; return { toString: () => 'percent' }; } };
      const format = new Intl.NumberFormat('de', options);
      return [format.format(0.5), format.format(0.25), times];
    })()`,
    `new Intl.NumberFormat('de', { get style() { throw new SyntaxError('mine'); } })`,
    `new Intl.NumberFormat('de', Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ['key' + i, i]))).format(1)`,
    `new Intl.NumberFormat(Array(1e6).fill('de'))`,
    `new Intl.NumberFormat('de', { style: 'x'.repeat(1e6) })`,
    `new Intl.NumberFormat('de', { style: 'decimal\\n!useGrouping=false' })`,
    `new Intl.NumberFormat('de').format('9'.repeat(1e5))`,
    `new Intl.NumberFormat('de', { style: Symbol() })`,
  ]);
  assert.deepEqual(found, [
    '["localeMatcher","type","style"]',
    '["50\u00a0%","25\u00a0%",1]',
    'SyntaxError',
    '"1"',
    'RangeError',
    'RangeError',
    'RangeError',
    'RangeError',
    'TypeError',
  ]);
});

test('an endless loop of calls ends at the limit of time, in the runner itself', async () => {
  const code = `export const run = () => {
    for (let i = 0; ; i++) try {
      new Intl.DateTimeFormat('de', { dateStyle: 'full', timeZone: 'Europe/Berlin' }).formatToParts(i);
      Intl.supportedValuesOf('timeZone');
    } catch {}
  };`;
  const program = { kind: 'script', code, file: 'plugin.js' } as const;
  const job = { hash: code, program, deadline: performance.now() + 50, logs: new Logs() };
  const outcome = await new ScriptRunner().run(job, '');
  assert.ok('error' in outcome && outcome.error.code === 'time-limit', JSON.stringify(outcome));
});

test('a style that there is not is answered by those that there are', () => {
  assert.match(
    answerIntl('check', 'NumberFormat\nde\nstyle=money'),
    /^RValue money out of range .* it can be "decimal", "percent", "currency", "unit"$/,
  );
});

test('the host answers what no plugin can ask with an error', () => {
  for (const [operation, description, ...values] of [
    ['format', 'Object\nde'],
    ['format', 'constructor\nde'],
    ['constructor', 'NumberFormat\nde'],
    ['select', 'NumberFormat\nde', 1],
    ['format', 'ListFormat\nde', '{'],
    ['ranks', 'Collator\nde', '<null>'],
    ['ranks', 'Collator\nde', JSON.stringify(Array(20_000).fill('a'))],
    ['ranks', 'Collator\nde', JSON.stringify(['a'.repeat(200)])],
    ['format', '<null>'],
  ] as [string, string, ...(string | number)[]][]) {
    assert.match(answerIntl(operation, description, ...values), /^[RT]./, `${operation} of ${description}`);
  }
});
