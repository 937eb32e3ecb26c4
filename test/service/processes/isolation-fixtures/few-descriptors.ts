import { closeSync, openSync } from 'node:fs';
import { loadedProgram } from '../../../../service/src/plugins/program.ts';
import { defaultLimits } from '../../../../service/src/sandbox/run-limits.ts';
import { Sandbox } from '../../../../service/src/sandbox/sandbox.ts';
import { Builds } from '../../../../service/src/toolchains/build/builds.ts';
import { loadLanguages } from '../../../../service/src/toolchains/languages.ts';

/*
 * Stands for the service where it has used up its file descriptors, of which this process may have few: builds and runs with
 * none left, with enough for the compiler's native program but not for the compiler, and with all. Prints what became of them.
 */

/** As many as starting the program takes: two for each of its three pipes, and two for Node. It keeps three of them. */
const nativeDescriptors = 8;

const used: number[] = [];
const languages = new Map([...loadLanguages()].filter(([id]) => id === 'typescript'));
const owner = { environment: 'com.acme', tenant: 't1', token: 'token' };
const source = 'export const run = (input: string) => input;';
const program = loadedProgram({
  kind: 'script',
  code: 'export const run = (input) => input;',
  file: 'plugin.js',
});

async function build(builds: Builds): Promise<string> {
  const outcome = await builds.build('typescript', { source, owner });
  return 'failed' in outcome ? outcome.failed : `built: ${outcome.compiled.program !== undefined}`;
}

async function run(sandbox: Sandbox): Promise<string> {
  try {
    return JSON.stringify(await sandbox.run({ program, input: 'hello', owner }));
  } catch (error) {
    return String(error);
  }
}

function release(count: number): void {
  for (const descriptor of used.splice(0, count)) closeSync(descriptor);
}

// What is loaded and probed only once needs descriptors that are not there later.
const first = { builds: new Builds(languages), sandbox: new Sandbox() };
await build(first.builds);
await run(first.sandbox);
first.builds.close();
await first.sandbox.close();

try {
  for (;;) used.push(openSync('/dev/null', 'r'));
} catch {
  // There are no more.
}

const builds = new Builds(languages);
const sandbox = new Sandbox({ limits: { ...defaultLimits, time: 20_000 } });
await builds.warmUp();
sandbox.warmUp();
const outcomes = [await build(builds), await run(sandbox), `ready: ${sandbox.isReady}`];
release(nativeDescriptors);
outcomes.push(await build(builds));
release(Infinity);
outcomes.push(await build(builds), await run(sandbox), `ready: ${sandbox.isReady}`);
builds.close();
await sandbox.close();
console.log(JSON.stringify(outcomes));
