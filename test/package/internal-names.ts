import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { INTERNAL_NAMES } from '../../vite.config.ts';
import { packed } from './fixture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readSource = (path: string) => readFileSync(join(root, path), 'utf8');
const readPackaged = (path: string) => readFileSync(join(packed.installed, path), 'utf8');

/** The sources of the public interface: members, events, messages, records, errors and options. */
const PUBLISHED = [
  'src/core/errors.ts',
  'src/core/initial-source.ts',
  'src/core/messages.ts',
  'src/core/records.ts',
  'src/core/token-life.ts',
  'src/element/events.ts',
  'src/element/features-events.ts',
  'src/element/features-strings.ts',
  'src/element/form-control.ts',
  'src/element/plugin-features.ts',
  'src/element/strings.ts',
];

test('the script-tag file shortens the name of no public property', () => {
  const declared = new Set(
    PUBLISHED.flatMap((path) =>
      [
        ...readSource(path).matchAll(
          /^ {2}(?:(?:override|declare|readonly|static|get|set|async) )*(\w+)[?!]?[:(;=]/gm,
        ),
      ].map(([, name]) => name),
    ),
  );
  // Both clocks of an instant are declared beside the public `EditorToken`, but are not public.
  const found = INTERNAL_NAMES.filter((name) => declared.has(name) && !/^(wall|mono)$/.test(name));
  assert.deepEqual(found, []);
});

test('the script-tag file shortens the name of no attribute, member or event of an element', () => {
  const manifest = readPackaged('dist/custom-elements.json');
  const found = INTERNAL_NAMES.filter((name) => manifest.includes(`"name": "${name}"`));
  assert.deepEqual(found, []);
});

test('the script-tag file contains no unshortened internal name', () => {
  const script = readPackaged('dist/cdn/plugin-editor.js');
  const found = INTERNAL_NAMES.filter((name) => new RegExp(`[.{,?]${name}\\b`).test(script));
  assert.deepEqual(found, []);
});
