import { availableParallelism } from 'node:os';
import { styleText } from 'node:util';
import { runNode } from './run-node.js';

// `npm run check [-- <name>…]`: everything that can be said of the sources without running them. By default all of it.

const tsc = (project: string, ...options: string[]) => [
  'node_modules/typescript/bin/tsc',
  '-p',
  project,
  ...options,
];

/** Each check is one or more programs, as arguments for Node. What takes longest comes first. */
const checks: Readonly<Record<string, readonly (readonly string[])[]>> = {
  format: [
    [
      'node_modules/prettier/bin/prettier.cjs',
      '--check',
      '--log-level=warn',
      // Only what changed since the last time is looked at.
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
    tsc('test/types'),
  ],
  rooms: [
    [
      '--test',
      'test/tools/rooms.node-test.ts',
      'test/tools/scripts.node-test.ts',
      'test/tools/mistakes.node-test.ts',
      'test/editor/rooms.node-test.ts',
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
    // Of several programs, which differ in their project: `types service`.
    label: length > 1 ? `${name} ${program[2]}` : name,
    program,
  })),
);
let exitCode = 0;

/** Runs one program after the other, until none is left. What a program prints is shown where it fails. */
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
    // Past 128 a signal has ended it, and nobody waits for the others.
    if (code > 128) waiting.length = 0;
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
process.exitCode = exitCode;
