import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Visitor, parseSync } from 'oxc-parser';
import { de } from '../../../editor/src/locales/de.ts';
import { en } from '../../../editor/src/locales/en.ts';
import { matchLocale } from '../../../editor/src/locales/locale.ts';
import { helpResults } from '../../../service/src/toolchains/language-help/requests.ts';
import { formatRecent } from '../../../editor/src/locales/formats.ts';

/** CodeMirror's words that the editor never shows, because it has what says them replaced or left out. */
const NEVER_SHOWN = new Set([
  // Its panel of search, which the editor's replaces, and its dialog that asks for a line.
  'Find',
  'Replace',
  'all',
  'by word',
  'match case',
  'next',
  'previous',
  'regexp',
  'replace all',
  'replace',
  'Go to line',
  'go',
  // Its own marks of folds, which the editor draws.
  'Fold line',
  'Unfold line',
  // Renaming is the editor's own, and references are not looked for.
  'New name',
  'rename',
  'Reference list',
  // Differences are only looked at.
  'Accept',
  'Reject',
  'Revert this chunk',
  // Set where differences are shown.
  '$ unchanged lines',
]);

test('the texts of CodeMirror itself are in the locale files', () => {
  const packages = fileURLToPath(new URL('../../../node_modules/@codemirror', import.meta.url));
  const distinctTexts = new Set<string>();
  for (const file of globSync('*/dist/index.js', { cwd: packages })) {
    const { program } = parseSync(file, readFileSync(join(packages, file), 'utf8'));
    new Visitor({
      CallExpression: ({ callee, arguments: args }) => {
        const isPhrase =
          (callee.type === 'Identifier' && callee.name === 'phrase') ||
          (callee.type === 'MemberExpression' &&
            callee.property.type === 'Identifier' &&
            callee.property.name === 'phrase');
        if (!isPhrase) return;
        for (const argument of args) {
          const texts =
            argument.type === 'ConditionalExpression'
              ? [argument.consequent, argument.alternate]
              : [argument];
          for (const text of texts)
            if (text.type === 'Literal' && typeof text.value === 'string') distinctTexts.add(text.value);
        }
      },
    }).visit(program);
  }
  assert.deepEqual(
    Object.keys(en.codePhrases).toSorted(),
    [...distinctTexts].filter((phrase) => !NEVER_SHOWN.has(phrase)).toSorted(),
  );
});

test('each quick fix of the service has a title in every language', () => {
  const { fix } = helpResults['textDocument/codeAction'].element.shape.data.shape;
  assert.deepEqual(Object.keys(en.languageHelp.fix).toSorted(), fix.options.toSorted());
});

/** All texts of a language by their path; functions are called with numbers and names. */
function textsOf(texts: object, path = ''): Map<string, string> {
  const all = new Map<string, string>();
  for (const [key, value] of Object.entries(texts) as [string, unknown][]) {
    const place = path ? `${path}.${key}` : key;
    if (typeof value === 'function') {
      all.set(`${place}(1)`, (value as (...args: unknown[]) => string)(1, 'B'));
      all.set(`${place}(2)`, (value as (...args: unknown[]) => string)(2, 'B'));
    } else if (typeof value === 'string') all.set(place, value);
    else for (const [inner, text] of textsOf(value as object, place)) all.set(inner, text);
  }
  return all;
}

test('no text is empty, and each has its placeholders in every language', () => {
  const [english, german] = [textsOf(en), textsOf(de)];
  assert.deepEqual([...german.keys()], [...english.keys()]);
  for (const [key, text] of english) {
    const other = german.get(key) ?? '';
    assert.ok(text && other, key);
    assert.equal(/\bB\b/.test(other), /\bB\b/.test(text), key);
    if (key.endsWith('(2)')) assert.equal(other.includes('2'), text.includes('2'), key);
  }
});

test('German has its own quotes, a space before the ellipsis, and the polite form of address', () => {
  for (const [key, text] of textsOf(de)) {
    assert.doesNotMatch(text, /[“"]\p{L}/u, key);
    assert.doesNotMatch(text, /\p{L}…/u, key);
    assert.doesNotMatch(text, /\b(?:du|dein|deine|dich|dir)\b/i, key);
  }
});

test('the best matching language is taken, and English where none matches', () => {
  assert.deepEqual(matchLocale(['de-AT']), { language: 'de', tag: 'de-AT' });
  assert.deepEqual(matchLocale(['fr', 'de']), { language: 'de', tag: 'de' });
  assert.deepEqual(matchLocale(['en-gb']), { language: 'en', tag: 'en-GB' });
  // With dates and numbers as in English, too: others could have other digits.
  assert.deepEqual(matchLocale(['ar-EG', 'x', '../../etc', '']), { language: 'en', tag: 'en' });
});

test('a time of today is shown as the hour, and another one with its day', () => {
  const now = new Date(2026, 4, 3, 18);
  const [today, yesterday] = [new Date(2026, 4, 3, 9, 5, 7), new Date(2026, 4, 2, 9, 5, 7)];
  assert.doesNotMatch(formatRecent(today, now), /2026/);
  assert.match(formatRecent(today, now), /\b07\b/);
  assert.match(formatRecent(yesterday, now), /2026/);
});
