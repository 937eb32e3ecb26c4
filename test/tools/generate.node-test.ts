import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import * as everything from '../../src/index.ts';
import { toolFiles } from '../../tools/generate/editor-data.ts';
import { elementsOf } from '../../tools/generate/elements.ts';
import { createManifest } from '../../tools/generate/manifest.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(root);
const manifest = createManifest();
const elements = elementsOf(manifest);
const [editor, features] = elements;
assert.ok(editor && features);

const namesOf = (all: { name: string }[]) => all.map(({ name }) => name).toSorted();

/** All matches of the pattern's group in these sources. */
const found = (pattern: RegExp, ...names: string[]) =>
  [
    ...new Set(
      names.flatMap((name) =>
        [...readFileSync(`src/element/${name}.ts`, 'utf8').matchAll(pattern)].map(([, group = '']) => group),
      ),
    ),
  ].toSorted();

for (const [view, elementClass] of [
  [editor, everything.PluginEditorElement],
  [features, everything.PluginFeaturesElement],
] as const) {
  test(`the manifest of <${view.tag}> describes every attribute that the class observes`, () => {
    assert.deepEqual(namesOf(view.attributes), elementClass.observedAttributes.toSorted());
    const all = [...view.attributes, ...view.properties, ...view.readonly, ...view.methods, ...view.events];
    assert.deepEqual(
      namesOf(all.filter(({ description, type }) => !description || /\bany\b/.test(type?.text ?? ''))),
      [],
    );
  });
}

test('the manifest has the defaults and descriptions of the class', () => {
  const byName = new Map(editor.attributes.map((one) => [one.name, one]));
  assert.equal(byName.get('token-method')?.default, "'post'");
  assert.equal(byName.get('token-method')?.type?.text, "'post' | 'get'");
  assert.equal(byName.get('timeout')?.default, '15000');
  assert.equal(byName.get('timeout')?.type?.text, 'number');
  assert.equal(byName.get('preload')?.default, 'false');
  assert.equal(byName.get('editor-url')?.default, undefined);
  assert.equal(byName.get('editor-url')?.fieldName, 'editorUrl');
  assert.match(byName.get('sandbox')?.default ?? '', /allow-scripts allow-same-origin/);
});

test('every event class is documented under the name that it is dispatched with', () => {
  const documented = new Map(
    elements.flatMap(({ events }) => events.map(({ name, type }) => [type.text, name] as const)),
  );
  const classes = Object.entries(everything).filter(([name]) => /^Plugin.*Event$/.test(name));
  assert.equal(classes.length, 15);
  for (const [name, eventClass] of classes) {
    if (name === 'PluginEditorEvent') continue;
    const event = new (eventClass as new (fields: object) => Event)({});
    assert.equal(documented.get(name), event.type, name);
  }
});

test('the documented parts, slots, states and custom properties are those that are used', () => {
  const parts = /part="(\w+)"/g;
  const slots = /<slot name="(\w+)"/g;
  const properties = /var\((--plugin-editor-[\w-]+)/g;
  const [editorFiles, featuresFiles] = [
    ['plugin-editor', 'error-view', 'connection', 'launch', 'styles'],
    ['plugin-features', 'error-view', 'features-view', 'features-styles'],
  ];
  assert.deepEqual(namesOf(features.parts), found(parts, ...featuresFiles));
  assert.deepEqual(namesOf(features.slots), found(slots, ...featuresFiles));
  assert.deepEqual(namesOf(features.cssProperties), found(properties, ...featuresFiles));
  assert.deepEqual(namesOf(editor.slots), found(slots, ...editorFiles));
  assert.deepEqual(namesOf(editor.cssProperties), found(properties, ...editorFiles));
  // The part of the frame is set by a script.
  assert.deepEqual(namesOf(editor.parts), [...found(parts, ...editorFiles), 'frame'].toSorted());
  assert.deepEqual(namesOf(editor.states), ['error', 'idle', 'loading', 'ready']);
  assert.deepEqual(namesOf(features.states), ['error', 'idle', 'loading', 'ready', 'testing']);
});

test('the manifest names files of the package, and nothing private', () => {
  const text = JSON.stringify(manifest);
  assert.doesNotMatch(text, /"name":"#|"private"|"protected"|\.ts"|\/src\//);
  const paths = manifest.modules.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => !/^dist\/[\w./-]+\.js$/.test(path)),
    [],
  );
  assert.ok(text.length < 40_000, `${text.length} bytes`);
});

test('the data for editors offer attributes, their values and parts', () => {
  const files = toolFiles(manifest, '1.2.3');
  const html = JSON.parse(files.get('vscode.html-custom-data.json') ?? '') as {
    tags: { name: string; attributes: { name: string; values: { name: string }[] }[] }[];
  };
  assert.deepEqual(namesOf(html.tags), ['plugin-editor', 'plugin-features']);
  const loading = html.tags[0]?.attributes.find(({ name }) => name === 'loading');
  assert.deepEqual(loading?.values, [{ name: 'eager' }, { name: 'lazy' }]);

  const css = JSON.parse(files.get('vscode.css-custom-data.json') ?? '') as {
    properties: { name: string }[];
    pseudoElements: { name: string }[];
  };
  assert.equal(new Set(namesOf(css.properties)).size, css.properties.length);
  assert.ok(namesOf(css.pseudoElements).includes('::part(frame)'));

  const web = JSON.parse(files.get('web-types.json') ?? '') as {
    name: string;
    version: string;
    contributions: { html: { elements: { name: string; js: { events: { name: string }[] } }[] } };
  };
  assert.deepEqual([web.name, web.version], ['plugin-editor', '1.2.3']);
  const [first] = web.contributions.html.elements;
  assert.deepEqual(namesOf(first?.js.events ?? []), namesOf(editor.events));
});
