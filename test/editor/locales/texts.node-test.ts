import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { literalTexts } from './literal-texts.ts';

const sources = fileURLToPath(new URL('../../../editor/src', import.meta.url));

test('every text that a user reads is in the locale files', () => {
  const found: string[] = [];
  for (const file of globSync('**/*.ts', { cwd: sources })) {
    // What is said before the texts can be loaded is in the two scripts that load them.
    if (file.startsWith('locales') || ['loader.ts', 'main.ts'].includes(file)) continue;
    const texts = literalTexts(file, readFileSync(join(sources, file), 'utf8'));
    found.push(...texts.map((text) => `${file}: ${text}`));
  }
  assert.deepEqual(found, []);
});

describe('a text that is written elsewhere is found', () => {
  const mistakes: Readonly<Record<string, string>> = {
    'between the tags of a template': 'html`<button>Save</button>`',
    'beside what is put between tags': 'html`<p>${count} plugins</p>`',
    'as what is put between tags': "html`<p>${isOpen ? 'open' : texts.closed}</p>`",
    'in a title': 'html`<button title="Save">${icon}</button>`',
    'in an aria-label': "html`<button aria-label='save all'>${icon}</button>`",
    'in a placeholder': 'html`<input placeholder="Name" />`',
    'as what is put into an attribute': "html`<button title=${'Save'}>${icon}</button>`",
    'as what is put into a part of an attribute':
      'html`<button title="${name} ${saved ?? \'never saved\'}"></button>`',
    'as what is put into a property': "html`<my-view .label=${'Name'}></my-view>`",
    'in textContent': "button.textContent = 'Save';",
    'in innerText': 'button.innerText = `${name} saved`;',
    'in a property that reflects an attribute': "button.ariaLabel = 'Save';",
    'in setAttribute': "button.setAttribute('aria-label', 'Save');",
    'in what is added to an element': "button.append(icon, ' save');",
    'in what a view or a dialog is given': "showDialog({ text: texts.lost, closeLabel: 'Close' });",
    'in a variable, where it is a sentence': "const message = 'Nothing was saved.';",
    'in a template of text': 'const message = `Saved as ${name}`;',
  };
  for (const [place, source] of Object.entries(mistakes)) {
    test(place, () => assert.equal(literalTexts('a.ts', source).length, 1, source));
  }
});

test('a text that no user reads is not reported', () => {
  const source = `
    throw new TypeError('Never reached.');
    html\`<button class="save button" title=\${texts.save} aria-label=\${texts.save} aria-sort=\${isUp ? 'ascending' : 'none'} @click=\${() => run('save')}>\${texts.save} →</button>\`;
    button.setAttribute('role', 'button');
    button.textContent = texts.save;
    const key = 'save-all';
    const shortcut = 'Ctrl';
    const colours = { text: '#e6e9ef' };
  `;
  assert.deepEqual(literalTexts('a.ts', source), []);
});
