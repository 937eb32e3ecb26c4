import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { startService } from '../../../service/src/index.ts';
import { processCountOf, settingsOfProcess } from '../../../service/src/settings/node-processes.ts';
import { readSettings } from '../../../service/src/settings/read-settings.ts';
import { StartError } from '../../../service/src/start-error.ts';

function mistakesOf(env: Record<string, string>): string[] {
  try {
    readSettings(env);
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    return error.message.split('\n');
  }
  return [];
}

function fileWith(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-service-settings-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'value'), text);
  return join(folder, 'value');
}

test('settings have the documented defaults', () => {
  assert.deepEqual(readSettings({}), {
    serviceHost: undefined,
    servicePort: 8082,
    publicUrl: undefined,
    allowedHosts: [],
    dataDirectory: join(process.cwd(), '.data'),
    database: { engine: 'sqlite', file: join(process.cwd(), '.data/service.sqlite') },
    autoMigrate: true,
    processes: 1,
    editorAncestors: undefined,
    editorAddressTokens: true,
    trustedProxies: [],
    editorTokenTtl: 900,
    runTimeoutMs: 1000,
    runMemoryMb: 32,
    pythonRunners: undefined,
    pythonMemoryMb: 64,
    tenantPlugins: 1000,
    tenantStorageMb: 500,
    tenantRecordsMb: 100,
    tenantRunsPerMinute: 0,
    environmentRunsPerMinute: 0,
    tokenRequestsPerMinute: 1200,
    addressRequestsPerMinute: 600,
    runRecords: 'logs',
    runRetentionDays: 14,
    runRetention: 1000,
    offlineRunSeconds: 30,
    outbound: true,
    outboundAllow: [],
    callTimeoutMs: 10_000,
    callResponseKb: 1024,
    runWaitMs: 25_000,
    runCalls: 20,
    waitingRuns: 1000,
    waitingMb: 256,
    tenantCallsPerMinute: 0,
    secretsKey: undefined,
    metricsHost: undefined,
    metricsPort: undefined,
    logLevel: 'info',
    drainSeconds: 5,
    smtpUrl: undefined,
    smtpFrom: undefined,
  });
});

describe('a value that is set is used', () => {
  for (const [name, value, key, expected] of [
    ['SERVICE_HOST', '127.0.0.1', 'serviceHost', '127.0.0.1'],
    ['SERVICE_PORT', ' 3000 ', 'servicePort', 3000],
    ['SERVICE_PORT', '0', 'servicePort', 0],
    ['SERVICE_PORT', '', 'servicePort', 8082],
    ['PUBLIC_URL', 'https://plugins.example.com/', 'publicUrl', 'https://plugins.example.com'],
    ['PUBLIC_URL', 'http://localhost:8082', 'publicUrl', 'http://localhost:8082'],
    [
      'ALLOWED_HOSTS',
      'a.internal, B.internal:81  [fd00::1]:82',
      'allowedHosts',
      ['a.internal', 'b.internal:81', '[fd00::1]:82'],
    ],
    ['DATA_DIR', '/somewhere', 'dataDirectory', '/somewhere'],
    ['DATABASE_URL', 'sqlite:/a/b.sqlite', 'database', { engine: 'sqlite', file: '/a/b.sqlite' }],
    ['AUTO_MIGRATE', 'off', 'autoMigrate', false],
    [
      'EDITOR_ANCESTORS',
      'https://a.example, https://b.example,',
      'editorAncestors',
      ['https://a.example', 'https://b.example'],
    ],
    ['EDITOR_ANCESTORS', ' , ', 'editorAncestors', undefined],
    ['EDITOR_ADDRESS_TOKENS', ' off ', 'editorAddressTokens', false],
    [
      'TRUSTED_PROXIES',
      '10.0.0.0/8 fd00::/8,192.0.2.1',
      'trustedProxies',
      ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
    ],
    ['EDITOR_TOKEN_TTL', '60', 'editorTokenTtl', 60],
    ['RUN_TIMEOUT_MS', '2000', 'runTimeoutMs', 2000],
    ['RUN_MEMORY_MB', '64', 'runMemoryMb', 64],
    ['PYTHON_RUNNERS', '2', 'pythonRunners', 2],
    ['PYTHON_MEMORY_MB', '128', 'pythonMemoryMb', 128],
    ['TENANT_RUNS_PER_MINUTE', '100', 'tenantRunsPerMinute', 100],
    ['RUN_WAIT_MS', '60000', 'runWaitMs', 60_000],
    ['RUN_CALLS', '5', 'runCalls', 5],
    ['WAITING_RUNS', '200', 'waitingRuns', 200],
    ['WAITING_MB', '64', 'waitingMb', 64],
    ['METRICS_PORT', '9090', 'metricsPort', 9090],
    ['LOG_LEVEL', 'debug', 'logLevel', 'debug'],
    ['DRAIN_SECONDS', '0', 'drainSeconds', 0],
    ['SMTP_URL', 'smtps://me:secret@mail.example', 'smtpUrl', 'smtps://me:secret@mail.example'],
    ['SMTP_FROM', 'plugins@localhost', 'smtpFrom', 'plugins@localhost'],
    ['SMTP_FROM', 'Acme, Inc. <plugins@example.com>', 'smtpFrom', 'Acme, Inc. <plugins@example.com>'],
  ] as const) {
    test(`${name}=${value} sets ${key}`, () => {
      assert.deepEqual(readSettings({ [name]: value })[key], expected);
    });
  }
});

test('no page may frame the editor of a public service until an origin is named', () => {
  const PUBLIC_URL = 'https://plugins.example.com';
  assert.deepEqual(readSettings({ PUBLIC_URL }).editorAncestors, []);
  const named = { PUBLIC_URL, EDITOR_ANCESTORS: 'https://app.example.com' };
  assert.deepEqual(readSettings(named).editorAncestors, ['https://app.example.com']);
});

describe('an invalid value ends the start with one line that names it and what would be right', () => {
  for (const [name, value, expected] of [
    ['SERVICE_HOST', 'no host', 'it must be an IP address or a host name.'],
    ['SERVICE_PORT', 'http', 'it must be a port: a whole number from 0 to 65535.'],
    ['SERVICE_PORT', '65536', 'it must be a port: a whole number from 0 to 65535.'],
    ['SERVICE_PORT', '-1', 'it must be a port'],
    ['SERVICE_PORT', '80.5', 'it must be a port'],
    ['SERVICE_PORT', '0x50', 'it must be a port'],
    ['PUBLIC_URL', 'plugins.example.com', 'it must be an origin with https'],
    ['PUBLIC_URL', 'http://plugins.example.com', 'it must be an origin with https'],
    ['PUBLIC_URL', 'https://*.example.com', 'it must be an origin with https'],
    ['PUBLIC_URL', 'https://plugins.example.com/path', 'it must be an origin alone'],
    ['PUBLIC_URL', 'https://b\u00fccher.example', 'which is https://xn--bcher-kva.example'],
    ['ALLOWED_HOSTS', 'a.internal https://b', '"https://b" is none.'],
    ['SMTP_FROM', 'the plugin service', 'it must be the address of a sender'],
    ['SMTP_FROM', 'a@example.com, b@example.com', 'it must be the address of a sender'],
    ['SMTP_FROM', 'Plugins <plugins>', 'it must be the address of a sender'],
    ['AUTO_MIGRATE', 'yes', 'it must be on or off.'],
    ['PROCESSES', '0', 'it must be auto, or a number of processes from 1 to 32.'],
    ['PROCESSES', '33', 'it must be auto, or a number of processes from 1 to 32.'],
    ['EDITOR_ADDRESS_TOKENS', 'OFF', 'it must be on or off.'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', '"10.0.0.0/33" is none.'],
    ['TRUSTED_PROXIES', 'proxy', '"proxy" is none.'],
    ['EDITOR_TOKEN_TTL', '0', 'it must be a time in seconds'],
    ['EDITOR_TOKEN_TTL', '15 min', 'it must be a time in seconds'],
    ['RUN_TIMEOUT_MS', '1', 'it must be a time in milliseconds'],
    ['RUN_MEMORY_MB', '1', 'it must be a size in MiB'],
    ['RUN_WAIT_MS', '10', 'it must be a time in milliseconds'],
    ['RUN_CALLS', '0', 'it must be a number of requests'],
    ['WAITING_RUNS', '0', 'it must be a number of runs'],
    ['WAITING_MB', '1', 'it must be a size in MiB'],
    ['LOG_LEVEL', 'loud', 'it must be one of trace, debug, info, warn, error, fatal, silent.'],
    ['DRAIN_SECONDS', '-1', 'it must be a time in seconds'],
  ] as const) {
    test(`${name}=${value} is refused`, () => {
      const [line = '', ...others] = mistakesOf({ [name]: value });
      assert.deepEqual(others, []);
      assert.ok(line.startsWith(`${name} is "${value}"; `) && line.includes(expected), line);
    });
  }

  for (const [value, expected] of [
    ['https://*.example.com', 'has a wildcard'],
    ['*', 'has a wildcard'],
    ['app.example.com', 'is not an origin'],
  ] as const) {
    test(`an origin that is not exact is refused for EDITOR_ANCESTORS: ${value}`, () => {
      const [line = ''] = mistakesOf({ EDITOR_ANCESTORS: value });
      assert.ok(line.startsWith(`EDITOR_ANCESTORS: "${value}" ${expected}`), line);
    });
  }

  for (const value of [
    'https://*.example.com',
    'localhost:5173',
    'http://a.test/',
    'HTTPS://a.test',
    'https://a.test:443',
  ]) {
    test(`an origin that is not exact is refused for OUTBOUND_ALLOW: ${value}`, () => {
      const [line = ''] = mistakesOf({ OUTBOUND_ALLOW: `http://localhost:5173 ${value}` });
      assert.match(line, /^OUTBOUND_ALLOW is .*; it must be origins, each with its scheme/);
      assert.ok(line.endsWith(`"${value}" is none.`), line);
    });
  }

  test('SECRETS_KEY takes keys of 32 bytes, and a mistake does not show one', () => {
    const texts = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    assert.deepEqual(readSettings({ SECRETS_KEY: texts.join(' ') }).secretsKey, texts);
    for (const value of [texts[0]?.slice(4) ?? '', `${texts[0]},short`, 'hunter2'.repeat(6)]) {
      const [line = ''] = mistakesOf({ SECRETS_KEY: value });
      assert.match(
        line,
        /^SECRETS_KEY cannot be used; it must be one or more keys of 32 bytes in base64, such as/,
      );
      assert.ok(!line.includes(value.slice(0, 10)), line);
    }
  });

  test('each of several mistakes has a line of its own', () => {
    const lines = mistakesOf({ SERVICE_PORT: 'x', LOG_LEVEL: 'y\nz', DRAIN_SECONDS: 'w' });
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['SERVICE_PORT', 'LOG_LEVEL', 'DRAIN_SECONDS'],
    );
  });

  for (const [name, value] of [
    ['DATABASE_URL', 'mysql://me:hunter2@db.example/plugins'],
    ['DATABASE_URL', 'postgres:me:hunter2@db.example/plugins'],
    ['DATABASE_URL', 'postgres://me:12/hunter2@db.example/plugins'],
    ['SMTP_URL', 'https://me:hunter2@mail.example'],
  ] as const) {
    test(`${name} is named without its value, which holds a password`, () => {
      const lines = mistakesOf({ [name]: value });
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', new RegExp(`^${name} .*; it must be `));
      assert.doesNotMatch(lines[0] ?? '', /hunter2/);
    });
  }
});

describe('listening where others reach the service', () => {
  for (const SERVICE_HOST of ['0.0.0.0', '::', '192.0.2.7', 'plugins.internal']) {
    test(`at ${SERVICE_HOST} needs PUBLIC_URL`, () => {
      assert.match(
        mistakesOf({ SERVICE_HOST }).join(),
        /^PUBLIC_URL is not set, .*it must be the origin that users/,
      );
      assert.deepEqual(mistakesOf({ SERVICE_HOST, PUBLIC_URL: 'https://plugins.example.com' }), []);
    });
  }
});

describe('listening on loopback', () => {
  for (const SERVICE_HOST of ['127.0.0.1', '127.8.0.1', '::1', 'localhost']) {
    test(`at ${SERVICE_HOST} needs no PUBLIC_URL`, () => assert.deepEqual(mistakesOf({ SERVICE_HOST }), []));
  }
});

describe('several processes', () => {
  const DATABASE_URL = 'postgres://db.example/plugins';

  test('are not for an SQLite file, where auto is one', async () => {
    assert.deepEqual(mistakesOf({ PROCESSES: '2' }), [
      'PROCESSES is 2, and the database is an SQLite file; it must be 1, or DATABASE_URL a PostgreSQL database.',
    ]);
    assert.equal(processCountOf(readSettings({ PROCESSES: 'auto' })), 1);
    assert.equal(processCountOf(readSettings({ PROCESSES: '1' })), 1);
    await assert.rejects(startService({ processes: 2 }), /^StartError: PROCESSES is 2, and a program/);
  });

  test('are one for two cores with auto', () => {
    const count = processCountOf(readSettings({ PROCESSES: 'auto', DATABASE_URL }));
    assert.equal(count, Math.max(1, Math.floor(availableParallelism() / 2)));
  });

  for (const [name, value, least] of [
    ['PYTHON_RUNNERS', '2', 3],
    ['WAITING_RUNS', '11', 12],
    ['WAITING_MB', '23', 24],
  ] as const) {
    test(`need their parts of ${name}`, () => {
      const env = { PROCESSES: '3', DATABASE_URL };
      assert.deepEqual(mistakesOf({ ...env, [name]: value }), [
        `${name} is ${value}, which 3 processes share (PROCESSES); it must be at least ${least}.`,
      ]);
      assert.deepEqual(mistakesOf({ ...env, [name]: String(least) }), []);
    });
  }

  test('have parts that add up to what is set for the node', () => {
    const node = readSettings({ PROCESSES: '3', DATABASE_URL, PYTHON_RUNNERS: '4', WAITING_RUNS: '100' });
    const parts = [0, 1, 2].map((index) => settingsOfProcess(node, { index, count: 3 }));
    assert.deepEqual(
      parts.map(({ pythonRunners, waitingRuns, waitingMb }) => [pythonRunners, waitingRuns, waitingMb]),
      [
        [2, 34, 86],
        [1, 33, 85],
        [1, 33, 85],
      ],
    );
    const { pythonRunners } = settingsOfProcess(readSettings({ PROCESSES: '3', DATABASE_URL }), {
      index: 2,
      count: 3,
    });
    assert.equal(pythonRunners, 1, 'one for each by default');
  });
});

describe('a value in a file', () => {
  test('is read from the path in NAME_FILE, without the line break at its end', (t) => {
    const url = 'postgres://me:hunter2@db.example/plugins';
    const { database } = readSettings({ DATABASE_URL_FILE: fileWith(t, `${url}\n`) });
    assert.equal(database.engine === 'postgres' && database.url, url);
  });

  test('is checked like any value, and not shown, because it may be a secret’s file by mistake', (t) => {
    const lines = mistakesOf({ SERVICE_PORT_FILE: fileWith(t, 'hunter2\n') });
    assert.deepEqual(lines, [
      'SERVICE_PORT cannot be used as SERVICE_PORT_FILE gives it; it must be a port: a whole number from 0 to 65535.',
    ]);
  });

  test('is refused together with the value itself', (t) => {
    const lines = mistakesOf({ SERVICE_PORT: '1', SERVICE_PORT_FILE: fileWith(t, '2') });
    assert.deepEqual(lines, ['SERVICE_PORT and SERVICE_PORT_FILE are both set; only one of them may be.']);
  });

  test('that does not exist is named with its path', () => {
    assert.deepEqual(mistakesOf({ LOG_LEVEL_FILE: '/nowhere/level' }), [
      'LOG_LEVEL_FILE is "/nowhere/level", which cannot be read (ENOENT); it must be the path of a file that holds the value.',
    ]);
  });

  test('that is empty is an error, and not the same as an unset variable', (t) => {
    for (const content of ['', ' \n']) {
      assert.deepEqual(mistakesOf({ DATABASE_URL_FILE: fileWith(t, content) }), [
        'DATABASE_URL_FILE names a file that is empty; it must be the path of a file that holds the value.',
      ]);
    }
  });

  test('of a secret is not shown, because the secret itself may have been given in its place', () => {
    assert.deepEqual(mistakesOf({ DATABASE_URL_FILE: 'postgres://me:hunter2@db.example/plugins' }), [
      'DATABASE_URL_FILE names a file, which cannot be read (ENOENT); it must be the path of a file that holds the value.',
    ]);
  });
});
