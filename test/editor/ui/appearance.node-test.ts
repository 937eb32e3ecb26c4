import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveAppearance } from '../../../editor/src/ui/appearance.ts';
import { contrast, parseColour } from '../../../editor/src/ui/colour.ts';

const propertiesOf = (...args: Parameters<typeof resolveAppearance>) =>
  Object.fromEntries(resolveAppearance(...args).properties);

test('a readable look is applied', () => {
  const { scheme, properties } = resolveAppearance(
    {
      colorScheme: 'light',
      accent: 'rgb(0, 100, 80)',
      background: 'rgb(255, 253, 250)',
      color: 'rgb(20, 20, 20)',
      border: 'rgb(120, 120, 120)',
      font: 'Inter, "Segoe UI", sans-serif',
      radius: '3px',
    },
    'dark',
  );
  assert.equal(scheme, 'light');
  const look = Object.fromEntries(properties);
  assert.equal(look['--accent'], 'rgb(0, 100, 80)');
  assert.equal(look['--accent-fill'], 'rgb(0, 100, 80)');
  assert.equal(look['--on-accent'], 'rgb(255, 255, 255)');
  assert.equal(look['--editor'], 'rgb(255, 253, 250)');
  assert.equal(look['--text'], 'rgb(20, 20, 20)');
  assert.equal(look['--control-line'], 'rgb(120, 120, 120)');
  assert.equal(look['--sans'], 'Inter, "Segoe UI", sans-serif');
  assert.equal(look['--radius'], '3px');
});

test('only values of the expected forms are applied', () => {
  for (const value of [
    'red',
    '#fff',
    'rgba(1, 2, 3, 0.5)',
    'rgb(1 2 3)',
    'rgb(256, 0, 0)',
    'var(--x)',
    'url(https://x)',
    'rgb(1, 2, 3); color: red',
    7,
    null,
    {},
  ]) {
    const look = propertiesOf({ accent: value, background: value, color: value, border: value }, 'light');
    assert.deepEqual(look, {}, JSON.stringify(value));
  }
  for (const font of ['x; } body {', 'url(x)', 'var(--x)', 'a/*', '']) {
    assert.deepEqual(propertiesOf({ font }, 'light'), {}, font);
  }
  for (const radius of ['1em', '-1px', 'calc(1px)', '1px 2px']) {
    assert.deepEqual(propertiesOf({ radius }, 'light'), {}, radius);
  }
  assert.equal(resolveAppearance({ colorScheme: 'blue' }, 'light').scheme, undefined);
});

test('an unreadable combination is not applied', () => {
  // Yellow is a ground for dark text, and no text on white.
  const yellow = propertiesOf({ accent: 'rgb(255, 210, 0)' }, 'light');
  assert.equal(yellow['--accent'], undefined);
  assert.equal(yellow['--accent-fill'], 'rgb(255, 210, 0)');
  assert.equal(yellow['--on-accent'], 'rgb(17, 20, 29)');
  // A ground in the middle leaves code unreadable in any colours.
  assert.equal(propertiesOf({ background: 'rgb(128, 128, 128)' }, 'light')['--editor'], undefined);
  assert.equal(propertiesOf({ color: 'rgb(200, 200, 200)' }, 'light')['--text'], undefined);
});

test('a dark page makes a dark editor without saying so', () => {
  const { scheme, properties } = resolveAppearance(
    { background: 'rgb(10, 12, 16)', color: 'rgb(240, 240, 240)' },
    'light',
  );
  assert.equal(scheme, 'dark');
  assert.equal(properties.get('--editor'), 'rgb(10, 12, 16)');
});

test('text on and in any accent colour is readable', () => {
  const white = [255, 255, 255] as const;
  for (let red = 0; red < 256; red += 51) {
    for (let green = 0; green < 256; green += 51) {
      for (let blue = 0; blue < 256; blue += 51) {
        const look = propertiesOf({ accent: `rgb(${red}, ${green}, ${blue})` }, 'light');
        const [fill, text, on] = ['--accent-fill', '--accent', '--on-accent'].map((name) =>
          parseColour(look[name]),
        );
        if (fill && on) assert.ok(contrast(fill, on) >= 4.5, fill.join());
        if (text) assert.ok(contrast(text, white) >= 4.5, text.join());
      }
    }
  }
});
