import { runNode } from './run-node.js';

// `npm run check [-- <name>…]`: everything that can be said of the sources without running them. By default all of it.

const tsc = ['node_modules/typescript/bin/tsc', '-p'] as const;

/** Each check is one or more programs, as arguments for Node. */
const checks: Readonly<Record<string, readonly (readonly string[])[]>> = {
  types: [
    [...tsc, 'tsconfig.json'],
    [...tsc, 'src', '--noEmit'],
    [...tsc, 'src/core'],
    [...tsc, 'src/server'],
    [...tsc, 'service', '--noEmit'],
    [...tsc, 'editor'],
    [...tsc, 'test/types'],
  ],
  lint: [['node_modules/oxlint/bin/oxlint', '--deny-warnings']],
  format: [['node_modules/prettier/bin/prettier.cjs', '--check', '.']],
  generated: [['tools/generate/run.ts', '--check']],
  rooms: [['--test', 'test/tools/rooms.node-test.ts', 'test/tools/scripts.node-test.ts']],
  package: [['--test', 'test/package.node-test.ts']],
  readme: [['tools/generate/readme-integrity.ts']],
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(checks, name));
if (unknown.length > 0) {
  console.error(`There is no check "${unknown.join('", "')}". There are: ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}

for (const name of asked.length > 0 ? asked : Object.keys(checks)) {
  console.log(`\n> ${name}`);
  for (const program of checks[name] ?? []) {
    const code = await runNode(program);
    if (code !== 0) process.exit(code);
  }
}
