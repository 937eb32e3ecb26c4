import { existsSync, readFileSync, writeSync } from 'node:fs';
import type { Compilation, Language } from '../../../../service/src/toolchains/language.ts';
import { encodeFrame } from '../../../../service/src/processes/frames.ts';

// A language whose compiler does what its source says, for tests of what a compiler's process can do and what becomes of it.

const channel = 3;
const wait = new Int32Array(new SharedArrayBuffer(4));

const deeds: Record<string, (argument: string) => unknown> = {
  nothing: () => '',
  read: (path) => readFileSync(path, 'utf8'),
  run: () => import('node:child_process'),
  fetch: () => fetch('http://127.0.0.1:1/'),
  environment: () => JSON.stringify(process.env),
  loop: () => {
    for (;;);
  },
  // Goes on until the test makes this file.
  until: (path) => {
    while (!existsSync(path)) Atomics.wait(wait, 0, 0, 5);
    return path;
  },
  fill: () => {
    const all: Uint8Array[] = [];
    for (;;) all.push(new Uint8Array(2 ** 20).fill(1));
  },
  // More than the system gives to a process at once.
  overreach: () => new WebAssembly.Memory({ initial: 2 ** 14 }),
  crash: () => process.abort(),
  leave: () => process.exit(3),
  throw: () => {
    throw new Error('No.\ngoroutine 1 [running]:');
  },
  large: (bytes) => 'x'.repeat(Number(bytes)),
  'speak too long': () => writeSync(channel, Buffer.from([3, 0xff, 0xff, 0xff, 0x7f])),
  'speak nonsense': () => writeSync(channel, encodeFrame(3, '{"end":{"compiled":{}}}')),
  'say an unknown kind': () => writeSync(channel, encodeFrame(99, '')),
};

const problem = (message: string) => ({ line: 1, column: 1, message, severity: 'error' as const });

async function compile(source: string): Promise<Compilation> {
  const [, what = '', argument = ''] = /^(.*?)(?: (\S+))?$/.exec(source) ?? [];
  if (what === 'find') {
    const [count = 0, length = 0] = argument.split('x').map(Number);
    return { diagnostics: Array.from({ length: count }, () => problem('é'.repeat(length))) };
  }
  let code: string;
  try {
    code = String(await (deeds[what] ?? deeds[source])?.(argument));
  } catch (error) {
    if (what === 'throw') throw error;
    code = String((error as NodeJS.ErrnoException).code ?? error);
  }
  return { program: { kind: 'script', code, file: '' }, diagnostics: [] };
}

const probe: Language = {
  identifier: 'probe',
  pretty: 'Probe',
  short: 'pr',
  template: () => ({ lang: 'probe', contents: 'nothing' }),
  typedTemplate: () => 'nothing',
  packages: [],
  probe: () => {},
  loadCompiler: () => Promise.resolve(compile),
};

export default probe;
