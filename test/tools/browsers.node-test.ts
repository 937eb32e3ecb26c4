import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { engines } from '../support/engines.ts';

it('the set-up names an override that names no file', () => {
  const script = fileURLToPath(new URL('../../tools/setup/system.js', import.meta.url));
  const env = { ...process.env, CHROME_PATH: '/nowhere/chrome' };
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.equal(stderr, 'CHROME_PATH is set to "/nowhere/chrome", where there is no file.\n');
});

it('ENGINES may name only known engines', () => {
  assert.throws(
    () => engines('chromium,opera'),
    /ENGINES names "opera"; there are chromium, firefox, webkit/,
  );
});
