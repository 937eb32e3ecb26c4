import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type Reference, filesIn, referencesOf, root } from './references.ts';

/*
 * Who may import whom. Lint says most of this while one writes; what is here also sees paths that lint cannot compare,
 * such as those of pages and of `new URL(…, import.meta.url)`, and the order of the folders inside the service.
 */

/** For each top-level folder, the others that it may use by path, and the packages of this repository that it may use by name. */
const topLevelFolders: Readonly<Record<string, { paths: readonly string[]; packages: RegExp }>> = {
  src: { paths: [], packages: /^$/ },
  service: { paths: [], packages: /^$/ },
  editor: { paths: [], packages: /^plugin-editor(?:\/|$)/ },
  demo: { paths: [], packages: /^plugin-editor(?:-service$|\/|$)/ },
  // The generators read the elements' classes. What the tools start is no import.
  tools: { paths: ['src'], packages: /^$/ },
  test: { paths: ['src', 'service', 'editor', 'demo', 'tools'], packages: /^plugin-editor/ },
};

/**
 * The folders of `service/src`, from the lowest: each may use those that are named, and itself. What lies beside the
 * folders is for all; only the folder `cli` uses `index.ts`, the entry, which uses everything by `start.ts`.
 */
const serviceFolders: Readonly<Record<string, readonly string[]>> = {
  plugins: [],
  operations: [],
  processes: [],
  limits: [],
  sandbox: ['plugins', 'processes'],
  toolchains: ['plugins', 'processes', 'sandbox'],
  storage: ['plugins', 'operations', 'limits', 'processes'],
  outbound: ['plugins', 'operations', 'processes', 'limits', 'sandbox', 'storage'],
  webhooks: ['plugins', 'storage', 'outbound'],
  audit: ['plugins', 'storage', 'webhooks'],
  accounts: ['plugins', 'storage', 'audit'],
  // Of audit, only how the end of a rollout is written down.
  runs: ['plugins', 'sandbox', 'outbound', 'storage', 'audit'],
  http: [
    'plugins',
    'operations',
    'processes',
    'limits',
    'sandbox',
    'toolchains',
    'storage',
    'audit',
    'accounts',
    'outbound',
    'webhooks',
    'runs',
  ],
  // Of http, storage and plugins, only how origins and addresses of databases are read, and what can be recorded.
  settings: ['storage', 'http', 'plugins'],
  cluster: ['operations', 'processes', 'storage', 'http', 'settings'],
  cli: [
    'plugins',
    'operations',
    'processes',
    'sandbox',
    'toolchains',
    'storage',
    'accounts',
    'outbound',
    'webhooks',
    'http',
    'settings',
    'cluster',
  ],
};

interface Use extends Reference {
  readonly file: string;
}

const uses: readonly Use[] = filesIn(
  '{index.html,vite.config.ts,{src,service,editor,demo,tools,test}/**/*}',
).flatMap((file) => referencesOf(file).map((reference) => ({ file, ...reference })));

/** The top-level folder that a path from the root is in; none for the files of the root, and for names of packages. */
function folderOf(path: string): string | undefined {
  const [folder = ''] = path.split('/');
  return Object.hasOwn(topLevelFolders, folder) ? folder : undefined;
}

const isOwnPackage = (specifier: string) => /^plugin-editor(?:-service|-page)?(?:\/|$)/.test(specifier);
const inWords = ({ file, specifier }: Use) => `${file} uses ${specifier}`;

describe('the top-level folders', () => {
  test('are all found, with their imports', () => {
    for (const folder of Object.keys(topLevelFolders)) {
      assert.ok(uses.filter(({ file }) => folderOf(file) === folder).length > 20, folder);
    }
    const runner = uses.filter(({ file }) => file === 'service/src/sandbox/runner-process.ts');
    assert.ok(
      runner.some(({ target }) => target === 'service/src/sandbox/runner-main.ts'),
      'URLs of modules',
    );
    assert.ok(
      uses.some(({ file, target }) => file === 'index.html' && target === 'demo/main.ts'),
      'pages',
    );
  });

  for (const [folder, { paths, packages }] of Object.entries(topLevelFolders)) {
    test(`import by path only what they may: ${folder} from ${['itself', ...paths].join(', ')}`, () => {
      const wrong = uses.filter(({ file, target }) => {
        const other = folderOf(target);
        return folderOf(file) === folder && other !== undefined && other !== folder && !paths.includes(other);
      });
      assert.deepEqual(wrong.map(inWords), []);
    });

    test(`import only the packages of this repository that they may: ${folder}`, () => {
      const wrong = uses.filter(
        ({ file, specifier }) =>
          folderOf(file) === folder && isOwnPackage(specifier) && !packages.test(specifier),
      );
      assert.deepEqual(wrong.map(inWords), []);
    });
  }

  test('import of a package of this repository only what its export map names', () => {
    const packages = ['package.json', 'service/package.json'].map(
      (path) => JSON.parse(readFileSync(root + path, 'utf8')) as { name: string; exports: object },
    );
    const published = new Set(
      packages.flatMap(({ name, exports }) => Object.keys(exports).map((key) => name + key.slice(1))),
    );
    const wrong = uses.filter(({ specifier }) => isOwnPackage(specifier) && !published.has(specifier));
    assert.deepEqual(wrong.map(inWords), []);
  });

  test('are not imported by files of the root, except the demo by its page', () => {
    const wrong = uses.filter(
      ({ file, target }) =>
        (file === 'index.html' && folderOf(target) !== 'demo') ||
        (file === 'vite.config.ts' && folderOf(target) !== undefined),
    );
    assert.deepEqual(wrong.map(inWords), []);
  });
});

describe('the folders of the service', () => {
  const inService = uses.filter(
    ({ file, target }) => file.startsWith('service/src/') && target.startsWith('service/src/'),
  );
  /** `undefined` for a file that lies beside the folders. */
  const serviceFolderOf = (path: string): string | undefined => /^service\/src\/([^/]+)\//.exec(path)?.[1];

  test('are all in the order above', () => {
    const found = filesIn('service/src/*/**/*').flatMap((file) => serviceFolderOf(file) ?? []);
    assert.deepEqual(
      [...new Set(found)].toSorted((a, b) => a.localeCompare(b)),
      Object.keys(serviceFolders).toSorted((a, b) => a.localeCompare(b)),
    );
  });

  for (const [folder, allowed] of Object.entries(serviceFolders)) {
    test(`import only what they may: ${folder} uses ${allowed.join(', ') || 'no other'}${allowed.length > 0 ? ' alone' : ''}`, () => {
      const wrong = inService.filter(({ file, target }) => {
        const other = serviceFolderOf(target);
        return (
          serviceFolderOf(file) === folder &&
          other !== undefined &&
          other !== folder &&
          !allowed.includes(other)
        );
      });
      assert.deepEqual(wrong.map(inWords), []);
    });
  }

  test('import the entry only in the command line', () => {
    const wrong = inService.filter(
      ({ file, target }) => target === 'service/src/index.ts' && serviceFolderOf(file) !== 'cli',
    );
    assert.deepEqual(wrong.map(inWords), []);
  });
});
