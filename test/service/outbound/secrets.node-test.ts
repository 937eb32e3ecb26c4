import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Secrets, SecretsUnavailableError } from '../../../service/src/outbound/secrets.ts';
import { temporaryDirectory } from '../harness.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const row = ['connection_values', 'com.acme', 7, 'default', 'rates'];

test('a secret is decrypted for its row alone, and never encrypted to the same text', () => {
  const secrets = new Secrets({ keys: [first] });
  const sealed = secrets.seal('s3cret', row);
  assert.notEqual(sealed, secrets.seal('s3cret', row));
  assert.equal(secrets.open(sealed, row), 's3cret');
  for (const other of [['connection_values', 'com.acme', 8, 'default', 'rates'], row.slice(1), []])
    assert.throws(() => secrets.open(sealed, other), SecretsUnavailableError);
  const [id = '', text = ''] = sealed.split('.');
  const changed = Buffer.from(text, 'base64url');
  changed[14] = (changed[14] ?? 0) ^ 1;
  for (const wrong of [`${id}.${changed.toString('base64url')}`, `${id}.`, id, ''])
    assert.throws(() => secrets.open(wrong, row), SecretsUnavailableError);
});

test('the first key encrypts, and all decrypt', () => {
  const old = new Secrets({ keys: [first] }).seal('s3cret', row);
  const both = new Secrets({ keys: [second, first] });
  assert.equal(both.open(old, row), 's3cret');
  assert.equal(new Secrets({ keys: [second] }).open(both.seal('new', row), row), 'new');
  assert.throws(() => new Secrets({ keys: [second] }).open(old, row), /SECRETS_KEY does not hold/);
  // What is named twice is one key, and not also a former one.
  assert.deepEqual(new Secrets({ keys: [second, first, second] }).keyIds, both.keyIds);
});

test('without keys and a file there are no secrets', () => {
  const secrets = new Secrets();
  assert.equal(secrets.isAvailable, false);
  assert.throws(() => secrets.seal('s3cret', row), SecretsUnavailableError);
});

test('a file for the key is made at first use, for this user alone, and all processes take it', (t) => {
  const file = join(temporaryDirectory(t), 'secrets.key');
  const [one, other] = [new Secrets({ file }), new Secrets({ file })];
  assert.deepEqual(one.keyIds, []);
  assert.throws(() => statSync(file), { code: 'ENOENT' });
  const sealed = one.seal('s3cret', row);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(Buffer.from(readFileSync(file, 'utf8'), 'base64').length, 32);
  assert.equal(other.open(sealed, row), 's3cret');
  writeFileSync(file, 'short');
  const errors: unknown[] = [];
  const broken = new Secrets({ file, onNoDigest: (error) => errors.push(error) });
  assert.throws(() => broken.seal('s3cret', row), /does not hold a key: 32 bytes in base64/);
  for (let i = 0; i < 2; i++) assert.equal(broken.digest('a call', new Uint8Array()), undefined);
  assert.match(errors.join(), /^SecretsUnavailableError: .* does not hold a key: 32 bytes in base64\.$/);
});
