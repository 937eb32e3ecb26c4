import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSync } from 'oxc-parser';
import { elementsOf } from '../../tools/generate/elements.ts';
import { createManifest } from '../../tools/generate/manifest.ts';
import { read, snippet } from './markdown.ts';

// Svelte, Angular, Playwright and Vitest are not among the dependencies: applications of theirs are in test/apps. Here their
// examples are parsed, and name attributes, properties and events that there are.

const EXAMPLES = {
  'CustomerEditor.svelte': {
    script: /<script lang="ts">(.*?)<\/script>/s,
    markup: /<\/script>(.*)$/s,
    event: /^on(plugin-.*)$/,
    property: /^$/,
  },
  'customer-editor.component.ts': {
    script: /^(.*)$/s,
    markup: /template: `(.*?)`/s,
    event: /^\((.*)\)$/,
    property: /^\[(.*)\]$/,
  },
} as const;

const elements = elementsOf(createManifest());

for (const [name, { script, markup, event, property }] of Object.entries(EXAMPLES))
  test(`${name} parses, and its tags name what exists`, () => {
    const code = snippet(name);
    const [, text = ''] = script.exec(code) ?? [];
    assert.match(text, /import 'plugin-editor';/);
    assert.deepEqual(parseSync('example.ts', text).errors, []);

    const tags = [...(markup.exec(code)?.[1] ?? '').matchAll(/<(plugin-[a-z]+)\s([^>]*(?:=>[^>]*)?)>/g)];
    assert.deepEqual(
      tags.map(([, tag]) => tag),
      ['plugin-features', 'plugin-editor'],
    );
    for (const [, tag, inner = ''] of tags) {
      const element = elements.find((one) => one.tag === tag);
      assert.ok(element);
      const known = new Set<string | undefined>([
        'id',
        ...element.attributes.flatMap((one) => [one.name, one.fieldName]),
        ...element.events.map((one) => one.name),
      ]);
      const named = [...inner.matchAll(/(?<=^|\s)([[({]?[\w-]+[\])}]?)(?:="[^"]*"|=\{.*\})?(?=\s|$)/g)].map(
        ([, attribute = '']) =>
          event.exec(attribute)?.[1] ?? property.exec(attribute)?.[1] ?? attribute.replaceAll(/[{}]/g, ''),
      );
      assert.ok(named.length > 0);
      assert.deepEqual(
        named.filter((one) => !known.has(one)),
        [],
      );
    }
  });

/** Tests of a vendor's own application; `test/testing` runs what they call. */
for (const name of ['saving.spec.js', 'vitest.config.js', 'saving.test.js'])
  test(`${name} parses, and imports what plugin-editor/testing.js exports`, () => {
    const code = snippet(name);
    assert.deepEqual(parseSync(name, code).errors, []);
    const [, names = ''] = /import \{([^}]*)\} from 'plugin-editor\/testing\.js'/.exec(code) ?? [];
    const imported = names.split(',').map((one) => one.trim());
    // A build gives the module a part that Node cannot load from the sources.
    const { staticExports } = parseSync('testing.ts', read('src/testing.ts')).module;
    const exported = staticExports.flatMap(({ entries }) => entries.map((one) => one.exportName.name));
    assert.deepEqual(
      imported.filter((one) => !exported.includes(one)),
      [],
    );
  });
