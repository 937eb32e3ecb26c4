import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';

const folder = new URL('../../demo/page/looks/', import.meta.url);

for (const name of (await readdir(folder)).filter((one) => one.endsWith('.css'))) {
  test(`${name} sets nothing but the documented custom properties and parts`, async () => {
    const css = await readFile(new URL(name, folder), 'utf8');
    const rules = [...css.matchAll(/([^{}]+)\{([^}]*)\}/g)];
    assert.ok(rules.some(([, selector = '']) => selector.includes('plugin-editor::part')));
    assert.ok(rules.some(([, selector = '']) => selector.includes('plugin-features::part')));
    for (const [, selectors = '', body = ''] of rules) {
      const all = selectors.split(',').map((one) => one.trim());
      assert.ok(
        all.every((one) => /^plugin-(editor|features)(::part\([a-z]+\))?$/.test(one)),
        selectors,
      );
      if (all.some((one) => one.includes('::part'))) continue;
      for (const [, property = ''] of body.matchAll(/^\s*([\w-]+):/gm)) {
        assert.match(property, /^--plugin-editor-(font|color|background|accent|border|radius|gap|height)$/);
      }
    }
  });
}
