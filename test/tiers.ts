import { globSync } from 'node:fs';
import { root } from '../tools/run-node.js';
import type { PostgresRelease } from './postgres/binaries.ts';

/*
 * Which command runs a file of tests. Its name says it:
 *
 *   *.test.ts           browsers: Chromium in `npm test`, Firefox and WebKit in `npm run test:release`, with few exceptions
 *   *.node-test.ts      Node: `npm test`
 *   *.release-test.ts   Node: `npm run test:release`
 *
 * Both have SQLite as the storage. The release runs the files below on PostgreSQL, too.
 */

/** Tests of texts, and of which is shown when, which no browser has a say in: only Chromium runs them. */
export const sameInAllBrowsers = [
  'test/editor/runs/runs-panel.test.ts',
  'test/editor/tests/result-view.test.ts',
  'test/editor/ui/notices.test.ts',
  'test/element/strings.test.ts',
];

/** Sweeps over random attributes, responses and events, which find the same in each browser: only the release runs them. */
export const sweeps = ['test/element/element-properties.test.ts'];

/** Folders whose files share pages in browsers: each page costs a browser a process, and loads all modules anew. */
const foldersOnPages = ['editor', 'editor-module', 'element'];
const FILES_OF_A_PAGE = 14;

/** Of these, tests of what a page has once: its history, its opener, its definitions, its modules, the list of its requests, a warning. */
const onPagesOfTheirOwn = [
  'test/editor/code/typing-help.test.ts',
  'test/element/plugin-editor-define.test.ts',
  'test/element/plugin-editor-history.test.ts',
  'test/element/plugin-editor-tab.test.ts',
  'test/element/plugin-features-shown.test.ts',
  'test/element/protocol-safety.test.ts',
];

/** The files of tests in browsers, by the pages that run them. */
export function browserPages(exclude: readonly string[]): FileGroup[] {
  const numbers = new Map<string, number>();
  const pages = Map.groupBy(filesOf('test/**/*.test.ts', exclude), (file) => {
    const folder = file.split('/')[1] ?? '';
    if (onPagesOfTheirOwn.includes(file) || !foldersOnPages.includes(folder)) return file;
    const number = numbers.get(folder) ?? 0;
    numbers.set(folder, number + 1);
    return `${folder}-${Math.floor(number / FILES_OF_A_PAGE) + 1}`;
  });
  return [...pages].map(([name, files]) => ({ name, files }));
}

/** Storage, locks and migrations: the oldest and the newest release of PostgreSQL that the service supports. */
const storageFiles = [
  'test/service/{storage,lost-database,nodes}/*.{node,release}-test.ts',
  // Codes and versions that are counted under a lock.
  'test/service/accounts/verification.node-test.ts',
  'test/service/http/environment/plugins.node-test.ts',
];

/** Of these, what is about SQLite, or about no database. */
const withoutPostgres = [
  'test/service/lost-database/sqlite.node-test.ts',
  'test/service/storage/{change-cache,database-url,digest,long-json,postgres-errors,sqlite}.node-test.ts',
];

/** Needs PostgreSQL, but for its `*.node-test.ts`. */
const needsPostgres = 'test/service/lost-database/';

/** What else depends on the storage: the newest release. */
const storedFiles = [
  'test/service/limits/rates.node-test.ts',
  'test/service/runs/{deleted,executions,operations,recorder,retention}.node-test.ts',
  'test/service/runs/nodes.release-test.ts',
  'test/service/accounts/environment-ownership.node-test.ts',
  'test/service/http/environment/*.node-test.ts',
  'test/service/http/{admission,builder,deploy,paging,plugin-quota,record-limits,replay,request-limits}.node-test.ts',
  // Every operation, with all values that its schemas allow.
  'test/service/http/openapi/properties.release-test.ts',
  'test/service/cli/{commands,secrets}.node-test.ts',
  'test/service/operations/{draining.release,health.node}-test.ts',
  'test/service/outbound/{calls,grants,runs,secrets}.node-test.ts',
  'test/service/types/{namespaces,nodes}.node-test.ts',
  // The attacks that keep the database busy, and those on who may read what.
  'test/threats/{neighbours,token-confusion}.node-test.ts',
];

/** The files of tests that match one of the patterns, as paths from the root. */
function filesOf(patterns: string | readonly string[], exclude: readonly string[] = []): string[] {
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', ...exclude] });
  return files.map((file) => file.replaceAll('\\', '/')).toSorted();
}

/** Folders that are too large for one process: each folder in them has one. */
const largeFolders = ['editor', 'service', 'threats'];

/** What takes longest begins first, so that no core idles at the end. */
const longest = [
  'service/http',
  'demo',
  'editor/shell',
  'threats/sandbox',
  'threats',
  'deploy/image',
  'docs/site',
  'package/packed',
  'apps/apps',
  'deploy/proxies',
  'soak/faults',
  'service/lost-database/postgres',
  'service/storage/durability',
];

/** Files that run in one process, one after the other. */
export interface FileGroup {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Puts the `*.node-test.ts` of a folder together, in the order in which the groups begin. A `*.release-test.ts` has a process of its
 * own: it takes long, and little of that goes into starting.
 */
export function groupsOf(files: readonly string[]): FileGroup[] {
  const groups = Map.groupBy(files, (file) => {
    const path = file.replace(/^test\//, '');
    if (path.endsWith('.release-test.ts')) return path.replace('.release-test.ts', '');
    const folders = path.split('/').slice(0, -1);
    return folders.slice(0, largeFolders.includes(folders[0] ?? '') ? 2 : 1).join('/');
  });
  const rank = (name: string) => [...longest, name].indexOf(name);
  return [...groups]
    .map(([name, members]) => ({ name, files: members }))
    .toSorted((a, b) => rank(a.name) - rank(b.name));
}

/** One run of Node's test runner. */
export interface NodeRun {
  readonly title: string;
  readonly files: readonly string[];
  /** The storage of the services in these tests. */
  readonly storage: 'sqlite' | 'postgres';
  /** The server that runs beside the tests; `undefined` where none of them needs one. */
  readonly postgres?: PostgresRelease;
  /** Whether it runs beside the one before it. */
  readonly isBeside?: true;
}

/** What `npm test` runs in Node. */
export const testRuns = (): NodeRun[] => [
  { title: 'sqlite', files: filesOf('test/**/*.node-test.ts'), storage: 'sqlite' },
];

/** What `npm run test:release` runs in Node. */
export function releaseRuns(): NodeRun[] {
  const onEach = filesOf(storageFiles, withoutPostgres);
  const onNewest = [...new Set([...onEach, ...filesOf(storedFiles)])];
  const others = filesOf('test/**/*.release-test.ts').filter((file) => !file.startsWith(needsPostgres));
  return [
    { title: 'release', files: others, storage: 'sqlite', postgres: 'newest' },
    { title: 'postgres-newest', files: onNewest, storage: 'postgres', postgres: 'newest' },
    // A few files that wait more than they work.
    { title: 'postgres-oldest', files: onEach, storage: 'postgres', postgres: 'oldest', isBeside: true },
  ];
}
