import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CompletionContext, type CompletionSource } from '@codemirror/autocomplete';
import { insertNewlineAndIndent } from '@codemirror/commands';
import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { pythonSupport } from '../../../editor/src/code/python.ts';
import { namesOf, type PythonLibrary, wantedNames } from '../../../editor/src/code/python-completion.ts';

const library = JSON.parse(
  readFileSync(new URL('../../../editor/src/code/python-library.json', import.meta.url), 'utf8'),
) as PythonLibrary;

const complete = (source: string) => {
  const before = source.slice(source.lastIndexOf('\n') + 1);
  const wanted = wantedNames(before, () => source);
  return wanted && { typed: wanted.typed, names: namesOf(library, wanted)?.map(({ label }) => label) };
};

test('Python: modules are completed where they are imported, and their names behind them', () => {
  assert.ok(complete('import js')?.names?.includes('json'));
  assert.ok(complete('import json, dec')?.names?.includes('decimal'));
  assert.ok(complete('from coll')?.names?.includes('collections.abc'));
  assert.deepEqual(complete('from decimal import Decimal, ROUND')?.typed, 'ROUND');
  assert.ok(complete('from decimal import Decimal, ROUND')?.names?.includes('ROUND_HALF_EVEN'));
  for (const source of [
    'import json\njson.',
    'import math, json as j  # why\nx = [j.',
    'import json as j\nj.du',
  ]) {
    assert.ok(complete(source)?.names?.includes('dumps'), source);
  }
  assert.ok(complete('from collections import abc\nabc.')?.names?.includes('Mapping'));
  assert.ok(complete('import urllib.parse\nurllib.parse.')?.names?.includes('urlencode'));
});

test('Python: names that no import makes a module are not completed from the library', () => {
  for (const source of [
    'json.',
    'import json\nx.json.',
    'import json\n"json.',
    'x = js',
    'import json\nf(json).',
  ]) {
    assert.equal(complete(source)?.names, undefined, source);
  }
});

test('Python: a name is completed with its kind and its signature', () => {
  const options = namesOf(library, { module: 'json', typed: '' });
  const dumps = options?.find(({ label }) => label === 'loads');
  assert.equal(dumps?.type, 'function');
  assert.match(dumps?.detail ?? '', /^\(s, \*/);
  assert.equal(options?.find(({ label }) => label === 'JSONEncoder')?.type, 'class');
});

test('Python: an import is completed from the library alone, and what follows with the names of the file, too', async () => {
  const offered = async (doc: string) => {
    const state = EditorState.create({ doc, extensions: pythonSupport() });
    const sources = state.languageDataAt<CompletionSource>('autocomplete', doc.length);
    const context = new CompletionContext(state, doc.length, false);
    const results = await Promise.all(sources.map(async (source) => source(context)));
    return results.flatMap((result) => result?.options.map(({ label }) => label) ?? []);
  };
  const imported = await offered('from dataclasses import dataclass, fiel');
  assert.deepEqual(
    ['fields', 'fiel', 'dataclass', 'filter'].map((name) => imported.includes(name)),
    [true, false, true, false],
  );
  const used = await offered('fields = 1\nfi');
  assert.ok(used.includes('fields') && used.includes('filter'));
});

test('Python: the line after a colon is indented by four columns, and what follows like it', () => {
  const contents = 'def run(input):';
  const selection = { anchor: contents.length };
  let state = EditorState.create({ doc: contents, selection, extensions: [pythonSupport()] });
  const enter = () => {
    // A state parses for at most 20 ms by itself, of which a busy machine may take all.
    ensureSyntaxTree(state, state.doc.length, Infinity);
    insertNewlineAndIndent({ state, dispatch: (change) => (state = change.state) });
  };
  enter();
  state = state.update(state.replaceSelection('name = input')).state;
  enter();
  assert.equal(state.doc.toString(), 'def run(input):\n    name = input\n    ');
});
