import { availableParallelism } from 'node:os';
import { styleText } from 'node:util';
import { runNode } from './run-node.js';

// `npm run check [-- <name>…]`: runs the checks with these names, by default all of them.

const tsc = (project: string, ...options: string[]) => [
  'node_modules/typescript/bin/tsc',
  '-p',
  project,
  // Only what has changed since the last time is checked.
  '--incremental',
  '--tsBuildInfoFile',
  `node_modules/.cache/plugin-editor/types-${project.replace(/\W/g, '-')}.tsbuildinfo`,
  // Projects are checked beside each other, and each of several checkers checks much of what the others check, too.
  '--checkers',
  '1',
  ...options,
];

/** The checks, each of one or more programs as arguments for Node. The slowest come first, so that the others run beside them. */
const checks: Readonly<Record<string, readonly (readonly string[])[]>> = {
  format: [
    [
      'node_modules/prettier/bin/prettier.cjs',
      '--check',
      '--log-level=warn',
      // Only files that have changed since the last time are checked.
      '--cache',
      '--cache-strategy=content',
      '--cache-location=node_modules/.cache/plugin-editor/formatted.json',
      '.',
    ],
  ],
  lint: [['node_modules/oxlint/bin/oxlint', '--deny-warnings']],
  types: [
    tsc('tsconfig.json'),
    tsc('service', '--noEmit'),
    tsc('editor'),
    tsc('src', '--noEmit'),
    tsc('src/core'),
    tsc('src/server'),
    tsc('tools/site/try'),
    tsc('test/types'),
  ],
  imports: [
    [
      '--test',
      'test/tools/imports.node-test.ts',
      'test/tools/tiers.node-test.ts',
      'test/editor/imports.node-test.ts',
    ],
  ],
  texts: [['--test', 'test/editor/locales/texts.node-test.ts']],
  generated: [['tools/generate/run.ts', '--check']],
  readme: [['tools/generate/readme-integrity.ts']],
  package: [['--test', 'test/package.node-test.ts']],
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`There is no check "${unknown.join('", "')}". There are: ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}

const waiting = (names.length > 0 ? names : Object.keys(checks)).flatMap((name) =>
  (checks[name] ?? []).map((program, _, { length }) => ({
    // Several programs of one check differ in their project: `types service`.
    label: length > 1 ? `${name} ${program[2]}` : name,
    program,
  })),
);
let exitCode = 0;

/** Runs one program after the other, until none is left. The output of a program is only printed when it fails. */
async function runWaiting(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const output: Buffer[] = [];
    const started = performance.now();
    const code = await runNode(next.program, process.execPath, (chunk) => output.push(chunk));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const mark = code === 0 ? styleText('green', '✔') : styleText('red', '✖');
    console.log(`${mark} ${next.label} (${seconds} s)`);
    if (code === 0) continue;
    process.stdout.write(Buffer.concat(output));
    exitCode ||= code;
    // A signal has ended it: the others are not wanted, either.
    if (code > 128) waiting.length = 0;
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
process.exitCode = exitCode;
