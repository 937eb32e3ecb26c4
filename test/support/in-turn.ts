import { relative } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const endings: (() => Promise<unknown>)[] = [];

/** Calls `end` once all files of this process have run: it ends what they share. */
export function afterAllFiles(end: () => Promise<unknown>): void {
  endings.push(end);
}

/**
 * Runs files of tests one after the other in this process, each as one test with those of the file in it: they share what takes long
 * to start and to load. Hooks at the top of a file belong to that file.
 */
export function runInTurn(files: readonly string[]): void {
  for (const file of files) {
    void test(relative(process.cwd(), file), () => import(pathToFileURL(file).href) as Promise<void>);
  }
  after(async () => {
    await Promise.all(endings.map((end) => end()));
  });
}
