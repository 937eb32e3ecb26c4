import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readSettings } from '../../service/src/settings/read-settings.ts';
import { settings } from '../../service/src/settings/settings.ts';
import { root } from '../../tools/run-node.js';
import { packagesFolder, testPackages } from '../packages/packages.ts';

/* The manifests under `deploy/kubernetes`: their schema, and that they fit each other and the service. */

interface Container {
  name: string;
  image: string;
  args?: string[];
  envFrom: { configMapRef: { name: string } }[];
  env: { name: string; value: string }[];
  volumeMounts: { name: string; mountPath: string }[];
  securityContext: object;
  resources: { limits: { memory: string } };
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: { periodSeconds: number; failureThreshold: number };
}

interface Pod {
  metadata: { labels: Record<string, string> };
  spec: {
    automountServiceAccountToken: boolean;
    terminationGracePeriodSeconds?: number;
    securityContext: { runAsNonRoot: boolean; runAsUser: number };
    initContainers?: Container[];
    containers: Container[];
    volumes: { name: string; secret?: { secretName: string } }[];
  };
}

/** What is used here of all kinds of manifests. */
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: {
    template?: Pod;
    selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
    podSelector?: { matchLabels?: Record<string, string> };
    ports?: { targetPort: string }[];
  };
}

const folder = join(root, 'deploy/kubernetes');
let manifests: Manifest[];
let deployment: Pod;
let job: Pod;

/** The one manifest of a kind. */
function only(kind: string): Manifest {
  const [one, ...others] = manifests.filter((manifest) => manifest.kind === kind);
  assert.ok(one && others.length === 0, `one ${kind}`);
  return one;
}

before(async () => {
  const load = await testPackages();
  const { parseAllDocuments } = load('yaml') as {
    parseAllDocuments: (text: string, options: object) => { errors: Error[]; toJS(): unknown }[];
  };
  const texts = (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8'));
  manifests = (await Promise.all(texts)).flatMap((text) =>
    parseAllDocuments(text, { version: '1.1' }).map((one) => {
      assert.deepEqual(one.errors, []);
      return one.toJS() as Manifest;
    }),
  );
  deployment = only('Deployment').spec?.template as Pod;
  job = only('Job').spec?.template as Pod;
});

test('the manifests are valid by the schemas of Kubernetes, in which a field that is not known is an error', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'deploy-kubernetes-'));
  try {
    await symlink(join(packagesFolder, 'node_modules'), join(directory, 'node_modules'), 'junction');
    const lines = manifests.flatMap((manifest, i) => {
      const { apiVersion, kind } = manifest;
      const path = `kubernetes-models/${apiVersion}/${kind}`;
      return [
        `import type { I${kind} as Kind${i} } from '${path}';`,
        `export const manifest${i}: Kind${i} = ${JSON.stringify(manifest)};`,
      ];
    });
    // The compiler refuses it, or the next line would be an error.
    const wrong = JSON.stringify(only('Deployment')).replace('"httpGet":{', '"httpGet":{"paths":"/",');
    lines.push(
      '// @ts-expect-error -- a probe has no "paths"',
      `export const wrong: Kind${manifests.indexOf(only('Deployment'))} = ${wrong};`,
    );
    await writeFile(join(directory, 'manifests.ts'), lines.join('\n'));
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, 'manifests.ts'], {
      cwd: directory,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
  } finally {
    await rm(directory, { recursive: true });
  }
  // Types say nothing of ranges and formats.
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest;
    const file = join(packagesFolder, 'node_modules/kubernetes-models', apiVersion, `${kind}.js`);
    const { [kind]: Model } = (await import(pathToFileURL(file).href)) as Record<
      string,
      new (data: object) => { validate(): void }
    >;
    assert.ok(Model, kind);
    new Model(manifest).validate();
  }
});

test('every variable is a setting, and the service accepts their values', async () => {
  const names = new Set(Object.values(settings).map(({ variable }) => variable));
  const { data = {}, metadata } = only('ConfigMap');
  const containers = [deployment, job].flatMap(({ spec }) => [
    ...(spec.initContainers ?? []),
    ...spec.containers,
  ]);
  for (const { env, envFrom } of containers) {
    assert.deepEqual(envFrom, [{ configMapRef: { name: metadata.name } }]);
    for (const { name } of env) assert.ok(names.has(name.replace(/_FILE$/, '')), name);
  }
  for (const name of Object.keys(data)) assert.ok(names.has(name), name);

  const directory = await mkdtemp(join(tmpdir(), 'deploy-kubernetes-'));
  try {
    // The key of the example is words, so that no service has a key that everybody knows.
    const values = { ...only('Secret').stringData, 'secrets-key': randomBytes(32).toString('base64') };
    const files: Record<string, string> = {};
    for (const [name, value] of Object.entries(values)) {
      const path = join(directory, name);
      await writeFile(path, value);
      for (const { env, volumeMounts } of containers) {
        const mount = volumeMounts.find((one) => one.name === 'secrets');
        const variable = env.find((one) => one.value === `${mount?.mountPath}/${name}`);
        assert.ok(variable, name);
        files[variable.name] = path;
      }
    }
    const read = readSettings({ ...data, SERVICE_HOST: '0.0.0.0', ...files });
    assert.equal(read.secretsKey?.length, 1);
    assert.equal(read.database.engine, 'postgres');
    assert.equal(read.autoMigrate, false);
    // A node may drain as long as it needs.
    assert.ok((deployment.spec.terminationGracePeriodSeconds ?? 0) >= read.drainSeconds + 35);
    const { periodSeconds = 0, failureThreshold = 0 } = deployment.spec.containers[0]?.readinessProbe ?? {};
    assert.equal(periodSeconds * failureThreshold, read.offlineRunSeconds);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the manifests name only what they define', async () => {
  const { version } = JSON.parse(await readFile(join(root, 'service/package.json'), 'utf8')) as {
    version: string;
  };
  const namespace = only('Namespace').metadata.name;
  for (const { kind, metadata } of manifests)
    if (kind !== 'Namespace') assert.equal(metadata.namespace, namespace);
  for (const { spec } of [deployment, job]) {
    const volumes = spec.volumes.map(({ name }) => name);
    for (const { secret } of spec.volumes)
      if (secret) assert.equal(secret.secretName, only('Secret').metadata.name);
    for (const { image, volumeMounts } of [...(spec.initContainers ?? []), ...spec.containers]) {
      assert.ok(image.endsWith(`/plugin-editor-service:${version}`), image);
      for (const { name } of volumeMounts) assert.ok(volumes.includes(name), name);
    }
  }
  const hasLabels = ({ metadata }: Pod, labels: object = {}) =>
    Object.entries(labels).every(([name, value]) => metadata.labels[name] === value);
  for (const kind of ['Deployment', 'PodDisruptionBudget', 'Service']) {
    const { selector } = only(kind).spec ?? {};
    const labels = selector?.matchLabels ?? selector;
    assert.ok(hasLabels(deployment, labels), kind);
    assert.ok(!hasLabels(job, labels), kind);
  }
  for (const { kind, spec } of manifests)
    if (kind === 'NetworkPolicy') assert.ok(hasLabels(deployment, spec?.podSelector?.matchLabels));
  const ports = deployment.spec.containers[0]?.ports?.map(({ name }) => name);
  for (const { targetPort } of only('Service').spec?.ports ?? []) assert.ok(ports?.includes(targetPort));
});

test('no pod has a right that the service does not need, and no node starts before `check` is content', () => {
  assert.deepEqual(
    deployment.spec.initContainers?.map(({ args }) => args),
    [['check']],
  );
  assert.deepEqual(job.spec.containers[0]?.args, ['migrate']);
  for (const { spec } of [deployment, job]) {
    assert.equal(spec.automountServiceAccountToken, false);
    assert.deepEqual([spec.securityContext.runAsNonRoot, spec.securityContext.runAsUser], [true, 10001]);
    for (const { securityContext, resources } of [...(spec.initContainers ?? []), ...spec.containers]) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(resources.limits.memory);
    }
  }
});
