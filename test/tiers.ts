import { globSync } from 'node:fs';
import { root } from '../tools/run-node.js';
import type { PostgresRelease } from './postgres/binaries.ts';

/*
 * Which command runs a file of tests. Its name says it:
 *
 *   *.test.ts           browsers: Chromium in `npm test`, Firefox and WebKit in `npm run test:release`
 *   *.node-test.ts      Node: `npm test`
 *   *.release-test.ts   Node: `npm run test:release`
 *
 * Both have SQLite as the storage. The release runs the folders below on PostgreSQL, too.
 */

/** Storage, locks and migrations: the oldest and the newest release of PostgreSQL that the service supports. */
const storageFolders = ['storage', 'lost-database', 'nodes', 'runs'];

/** Needs PostgreSQL, but for its `*.node-test.ts`. */
const needsPostgres = 'test/service/lost-database/';

/** What else the service keeps: the newest release. */
const serviceFolders = ['accounts', 'cli', 'http', 'limits', 'operations', 'outbound', 'types'];

const inFolders = (folders: readonly string[]) =>
  filesOf(`test/service/{${folders.join(',')}}/**/*.{node,release}-test.ts`);

/** The files of tests that match a pattern, as paths from the root. */
function filesOf(pattern: string): string[] {
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] });
  return files.map((file) => file.replaceAll('\\', '/')).toSorted();
}

/** Folders of which each folder in them has a process of its own; of the others each as a whole. */
const largeFolders = ['editor', 'service', 'threats'];

/** The folders that take longest, longest first: they begin first, so that no core idles at the end. */
const longFolders = ['service/http', 'demo', 'editor/shell', 'threats', 'docs'];

/** Files that run in one process, one after the other. */
export interface FileGroup {
  /** Their folder below `test`. */
  readonly name: string;
  readonly files: readonly string[];
}

/** Puts the files of a folder together, in the order in which the groups begin. */
export function groupsOf(files: readonly string[]): FileGroup[] {
  const groups = Map.groupBy(files, (file) => {
    const folders = file.split('/').slice(1, -1);
    return folders.slice(0, largeFolders.includes(folders[0] ?? '') ? 2 : 1).join('/');
  });
  const rank = (name: string) => [...longFolders, name].indexOf(name);
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
}

/** What `npm test` runs in Node. */
export const testRuns = (): NodeRun[] => [
  { title: 'sqlite', files: filesOf('test/**/*.node-test.ts'), storage: 'sqlite' },
];

/** What `npm run test:release` runs in Node. */
export function releaseRuns(): NodeRun[] {
  const onEach = inFolders(storageFolders);
  const onNewest = [
    ...onEach,
    ...inFolders(serviceFolders),
    // One of its attacks is on the pool of connections.
    'test/threats/neighbours.node-test.ts',
  ];
  const others = filesOf('test/**/*.release-test.ts').filter((file) => !file.startsWith(needsPostgres));
  return [
    { title: 'release', files: others, storage: 'sqlite', postgres: 'newest' },
    { title: 'postgres-newest', files: onNewest, storage: 'postgres', postgres: 'newest' },
    { title: 'postgres-oldest', files: onEach, storage: 'postgres', postgres: 'oldest' },
  ];
}
