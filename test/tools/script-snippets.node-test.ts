import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withHashes } from '../../tools/generate/readme-integrity.ts';

const release = {
  version: '1.2.3',
  files: { 'plugin-editor.js': 'sha384-new', 'plugin-editor.iife.js': 'sha384-classic' },
};

const tag = (version: string, file: string, hash: string) => `<script
  type="module"
  src="https://cdn.example/npm/plugin-editor@${version}/dist/cdn/${file}"
  integrity="${hash}"
  crossorigin="anonymous"></script>`;

test('the hash and version of another build are replaced', () => {
  for (const [file, hash] of Object.entries(release.files)) {
    const text = `# Title\n\n${tag('0.9.0-rc.1', file, 'sha384-old')}\n`;
    assert.equal(withHashes(text, release), `# Title\n\n${tag('1.2.3', file, hash)}\n`);
  }
});

test('attributes may be in any order, and a version may be missing', () => {
  const text = '<script integrity="sha384-old" src="/vendor/plugin-editor.iife.js"></script>';
  assert.equal(withHashes(text, release), text.replace('old', 'classic'));
});

test('a tag that is right, has no hash or names another script stays unchanged', () => {
  for (const text of [
    tag('1.2.3', 'plugin-editor.js', 'sha384-new'),
    '<script type="module" src="https://cdn.example/npm/plugin-editor@0.9.0/dist/cdn/plugin-editor.js"></script>',
    '<script src="https://cdn.example/other.js" integrity="sha384-old"></script>',
    'integrity="sha384-old" outside of any tag, beside plugin-editor.js',
  ]) {
    assert.equal(withHashes(text, release), text);
  }
});
