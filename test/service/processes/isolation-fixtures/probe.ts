import { readdirSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import module, { createRequire } from 'node:module';

// What runs in an isolated process in the tests: it tries what its first argument says and writes what came of it.

const [what = '', argument = ''] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const say = (text: string) => writeSync(1, `${text}\n`);
const any = globalThis as unknown as Record<string, { new (...args: unknown[]): object }>;
const ofProcess = process as unknown as Record<string, (...args: unknown[]) => unknown>;
const ofModule = module as unknown as Record<string, (...args: unknown[]) => unknown>;

const dataUrl: string = 'data:text/javascript,import "node:net"';

/** Everything by which JavaScript has been seen to get out of a process. */
const attempts: Record<string, () => unknown> = {
  'import node:net': () => import('node:net'),
  'import net': () => import('net'),
  'import from data': () => import(dataUrl),
  'import a package that imports http': () => import('@hono/node-server'),
  'require net': () => require('net') as unknown,
  'require by another require': () => createRequire('file:///tmp/other.js')('node:tls') as unknown,
  'Module._load': () => ofModule['_load']?.('net'),
  'Module.prototype.require': () => module.prototype.require.call(module.prototype, 'net') as unknown,
  'Module._resolveFilename': () => {
    ofModule['_resolveFilename'] = () => 'net';
    return require('anything') as unknown;
  },
  'a later hook': () => {
    module.registerHooks({ resolve: () => ({ url: 'node:net', shortCircuit: true }) });
    return require('anything') as unknown;
  },
  'hooks in a thread': () => module.register('data:text/javascript,'),
  'process.getBuiltinModule': () => process.getBuiltinModule('node:net'),
  'process.binding': () => ofProcess['binding']?.('tcp_wrap') ?? notThere(),
  'process._linkedBinding': () => ofProcess['_linkedBinding']?.('tcp_wrap') ?? notThere(),
  'the constructor of process.stdin': () => new (process.stdin.constructor as new () => object)(),
  'the constructor of process.stdout': () => new (process.stdout.constructor as new () => object)(),
  'active handles': () => ofProcess['_getActiveHandles']?.() ?? notThere(),
  fetch: () => fetch('http://127.0.0.1:1/'),
  WebSocket: () => new (any['WebSocket'] ?? notThere())('ws://127.0.0.1:1/'),
  EventSource: () => new (any['EventSource'] ?? notThere())('http://127.0.0.1:1/'),
  'the dispatcher of fetch': () => {
    try {
      void (WebAssembly.compileStreaming as (source: unknown) => unknown)(null);
    } catch {
      // It may have loaded the client before it failed.
    }
    const key = Symbol.for('undici.globalDispatcher.1');
    return (globalThis as unknown as Record<symbol, unknown>)[key] ?? notThere();
  },
  'node:child_process': () => import('node:child_process'),
  'process.execve': () => ofProcess['execve']?.('/bin/true', ['true']) ?? notThere(),
  'process.kill': () => process.kill(process.ppid, 0),
  'process._kill': () => ofProcess['_kill']?.(process.ppid, 0) ?? notThere(),
  'process._debugProcess': () => ofProcess['_debugProcess']?.(process.ppid) ?? notThere(),
  'node:worker_threads': () => import('node:worker_threads'),
  'node:inspector': () => import('node:inspector'),
  'node:vm': () => import('node:vm'),
  'node:v8': () => import('node:v8'),
  'node:async_hooks': () => import('node:async_hooks'),
  'node:sqlite': () => import('node:sqlite'),
  'a native add-on': () => import('oxc-parser'),
  'process.dlopen': () => process.dlopen({ exports: {} }, '/nowhere.node'),
  'a report as a file': () => process.report.writeReport('/tmp/report.json'),
  '/etc/passwd': () => readFileSync('/etc/passwd'),
  '/proc/self/environ': () => readFileSync('/proc/self/environ'),
  'the tests': () => readdirSync(new URL('..', import.meta.url)),
};

function notThere(): never {
  throw new Error('It is not there.');
}

/** Asks for more and more memory, says after each 8 MiB how many it has, and says when it got no more, unless that ends it. */
function fill(take: () => unknown): void {
  const all: unknown[] = [];
  try {
    for (;;) {
      all.push(take());
      say(String(all.length * 8));
    }
  } catch (error) {
    say(`refused: ${String(error)}`);
  }
}

const memory: Record<string, () => void> = {
  buffers: () => fill(() => new Uint8Array(8 * 2 ** 20).fill(1)),
  wasm: () => {
    const one = new WebAssembly.Memory({ initial: 0, maximum: 65_536 });
    return fill(() => one.grow(128));
  },
  texts: () =>
    fill(() => Array.from({ length: 8 * 2 ** 10 }, (_, i) => Buffer.alloc(1000, i).toString('latin1'))),
};

if (what === 'attempts') {
  const succeeded: string[] = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      succeeded.push(name);
    } catch {
      // As it should be.
    }
  }
  say(JSON.stringify({ tried: Object.keys(attempts).length, succeeded }));
} else if (what === 'environment') {
  say(JSON.stringify(process.env));
} else if (what === 'read') {
  say(readFileSync(argument, 'utf8'));
} else if (what === 'real path') {
  say(realpathSync.native(argument));
} else if (what === 'addon') {
  say(typeof (await import('oxc-parser')).parseSync);
} else if (what === 'loop') {
  say('looping');
  for (;;);
} else {
  memory[what]?.();
}
