import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import type { Language } from '../../../service/src/toolchains/language.ts';
import { loadLanguages } from '../../../service/src/toolchains/languages.ts';

const languages = loadLanguages();

const names = [
  'add-record',
  `it's "quoted" \\ back\\\\slash`,
  '*/ globalThis.pwned = true; /*',
  '`${globalThis.pwned = true}`',
  '"; globalThis.pwned = true; "',
  "'; globalThis.pwned = true; '",
  'two\nlines\r\nand\u2028more\u2029and\u0085more',
  '// comment <!-- --> </script>',
  'NUL \0 and BOM \ufeff and bidi \u202e overrides',
  'naïve 名前 😀 👩‍💻',
  '../../etc/passwd',
  '%2F',
];

async function runOf(language: Language, contents: string): Promise<(input: string) => unknown> {
  const script = language.identifier === 'typescript' ? stripTypeScriptTypes(contents) : contents;
  const module = (await import(`data:text/javascript,${encodeURIComponent(script)}`)) as {
    run: (input: string) => unknown;
  };
  return module.run;
}

for (const language of ['javascript', 'typescript'].flatMap((id) => languages.get(id) ?? [])) {
  test(`the ${language.pretty} template runs with any names, and holds them unchanged`, async () => {
    for (const [i, pluginName] of names.entries()) {
      const namespace = names.at(-1 - i) ?? '';
      const { contents, tests } = language.template({ pluginName, namespace });
      const run = await runOf(language, contents);
      for (const { payload } of tests ?? []) {
        const output = run(payload ?? '');
        assert.equal(output, `Hello, ${payload || 'world'}! This is ${pluginName} in ${namespace}.`);
      }
    }
    assert.ok(!('pwned' in globalThis));
  });

  test(`the ${language.pretty} template holds no invisible character`, () => {
    const { contents } = language.template({ pluginName: names.join(''), namespace: '\u200b\u2066' });
    assert.doesNotMatch(contents.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}]/u);
  });
}
