import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { dataDirectory } from '../../../service/src/cli/data-directory.ts';
import { readSettings } from '../../../service/src/cli/settings.ts';
import { StartError } from '../../../service/src/start-error.ts';

test('without anything set, the documented defaults hold', () => {
  assert.deepEqual(readSettings({}), {
    servicePort: 8082,
    dataDirectory: join(process.cwd(), '.data'),
    database: { engine: 'sqlite', file: join(process.cwd(), '.data', 'service.sqlite') },
    editorTokenTtl: 900,
    editorAncestors: undefined,
    editorAddressTokens: true,
  });
});

test('what is set is used; an empty value is none', () => {
  assert.deepEqual(
    readSettings({
      SERVICE_PORT: ' 3000 ',
      DATA_DIR: '/somewhere',
      EDITOR_TOKEN_TTL: '60',
      EDITOR_ANCESTORS: 'https://a.example, https://b.example  https://c.example,',
      EDITOR_ADDRESS_TOKENS: ' off ',
    }),
    {
      servicePort: 3000,
      dataDirectory: '/somewhere',
      database: { engine: 'sqlite', file: '/somewhere/service.sqlite' },
      editorTokenTtl: 60,
      editorAncestors: ['https://a.example', 'https://b.example', 'https://c.example'],
      editorAddressTokens: false,
    },
  );
});

test('DATABASE_URL names the database, and a value that cannot be used is refused without being shown', () => {
  const database = (url: string) => readSettings({ DATA_DIR: '/somewhere', DATABASE_URL: url }).database;
  assert.deepEqual(database('sqlite:/elsewhere/x.sqlite'), { engine: 'sqlite', file: '/elsewhere/x.sqlite' });
  assert.equal(database('postgres://me:secret@db/plugins').engine, 'postgres');
  assert.equal(database(' ').engine, 'sqlite');
  assert.throws(
    () => database('mysql://me:secret@db/plugins'),
    (error) =>
      error instanceof StartError &&
      error.message.startsWith('DATABASE_URL ') &&
      !error.message.includes('secret'),
  );
});

test('separators alone name no ancestor', () => {
  assert.equal(readSettings({ EDITOR_ANCESTORS: ' , ' }).editorAncestors, undefined);
});

for (const value of ['no', 'OFF', 'false', '0', 'on off']) {
  test(`EDITOR_ADDRESS_TOKENS=${value} is refused by name`, () => {
    assert.throws(
      () => readSettings({ EDITOR_ADDRESS_TOKENS: value }),
      (error) =>
        error instanceof StartError &&
        error.message === `EDITOR_ADDRESS_TOKENS is "${value}"; it must be on or off.`,
    );
  });
}

test('any free port can be asked for', () => {
  assert.equal(readSettings({ SERVICE_PORT: '0' }).servicePort, 0);
});

for (const [name, value] of [
  ['SERVICE_PORT', 'http'],
  ['SERVICE_PORT', '65536'],
  ['SERVICE_PORT', '-1'],
  ['SERVICE_PORT', '80.5'],
  ['SERVICE_PORT', '0x50'],
  ['EDITOR_TOKEN_TTL', '0'],
  ['EDITOR_TOKEN_TTL', '15 min'],
] as const) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(
      () => readSettings({ [name]: value }),
      (error) =>
        error instanceof StartError && error.message.startsWith(`${name} is "${value}"; it must be a `),
    );
  });
}

test('state is kept in DATA_DIR, else in .data, both relative to the working directory', () => {
  assert.equal(dataDirectory({ DATA_DIR: '/somewhere' }), '/somewhere');
  assert.equal(dataDirectory({ DATA_DIR: 'here' }), join(process.cwd(), 'here'));
  assert.equal(dataDirectory({}), join(process.cwd(), '.data'));
  assert.equal(dataDirectory({ DATA_DIR: '' }), join(process.cwd(), '.data'));
});
