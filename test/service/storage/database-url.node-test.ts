import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { parseDatabaseUrl } from '../../../service/src/storage/database-url.ts';
import { openStorage } from '../../../service/src/storage/storage.ts';

test('the address of an SQLite database is a path', () => {
  const paths = {
    'sqlite:/a/b.sqlite': '/a/b.sqlite',
    'sqlite:b.sqlite': 'b.sqlite',
    'SQLITE:///a b': '/a b',
    ' sqlite:./x ': 'x',
  };
  for (const [url, path] of Object.entries(paths)) {
    assert.deepEqual(parseDatabaseUrl(url), { engine: 'sqlite', file: resolve(path) }, url);
  }
});

test('the address of a PostgreSQL database is shown without its password and options', () => {
  const shown = {
    'postgres://me:secret@db.example.com:5433/plugins?sslmode=require&password=secret':
      'postgres://me@db.example.com:5433/plugins',
    'postgresql://db/plugins': 'postgres://db/plugins',
    'postgres://me:p%40ss@[::1]/x': 'postgres://me@[::1]/x',
    'postgres:///plugins?host=/run/postgresql': 'postgres:///plugins',
  };
  for (const [url, text] of Object.entries(shown)) {
    assert.deepEqual(parseDatabaseUrl(url), { engine: 'postgres', url, shown: text });
  }
});

test('an invalid address is refused in one line that quotes none of it', () => {
  const wrong = [
    '',
    'secret',
    'mysql://me:secret@db/x',
    'postgres',
    'sqlite:',
    'sqlite://secret/x',
    'sqlite',
    'postgres://me:sec/ret@db/x',
    'postgres://me:%zz-secret@db/x',
    '/secret/file',
  ];
  for (const url of wrong) {
    assert.throws(
      () => parseDatabaseUrl(url),
      (error: Error) => {
        assert.equal(error.name, 'StartError', url);
        assert.match(error.message, /^DATABASE_URL .*must be .*(?:sqlite:<path>|postgres:)/, url);
        assert.doesNotMatch(error.message, /secret|sec\/ret|\n/);
        return true;
      },
    );
  }
});

test('an unreachable PostgreSQL server is named in one line, without the password', async () => {
  const url = 'postgres://me:secret@127.0.0.1:1/plugins';
  await assert.rejects(openStorage(parseDatabaseUrl(url)), (error: Error) => {
    assert.equal(error.name, 'StartError');
    assert.match(
      error.message,
      /^The database postgres:\/\/me@127\.0\.0\.1:1\/plugins cannot be used: .*ECONNREFUSED.*DATABASE_URL/,
    );
    assert.doesNotMatch(error.message, /secret|\n/);
    return true;
  });
});
