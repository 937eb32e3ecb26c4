import module, { isBuiltin } from 'node:module';
import { constants, getPriority, setPriority } from 'node:os';
import { replacedModules } from './replaced-modules.ts';

/*
 * Removes from the JavaScript of a process everything that reaches beyond it: network, other processes, threads, debuggers; and
 * lowers its priority. `startIsolated` loads this file before a process's own code. Node's permission model restricts files, child
 * processes and workers, but in Node 24 neither the network nor `process.kill`, which could kill the service.
 *
 * After this there are no `process.stdin`, `stdout` and `stderr`, because their constructor opens sockets. A process reads and
 * writes its file descriptors with `node:fs`.
 */

/** Node's modules that an isolated process may import. They only work in memory, or on files within the permissions. */
const allowedModules = new Set([
  'buffer',
  'diagnostics_channel',
  'events',
  'fs',
  'fs/promises',
  'module',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'string_decoder',
  'url',
  'util',
  'util/types',
]);

/** The functions of `process` that are kept. `require` loads native add-ons with `dlopen`, where they are permitted. */
const allowedProcessFunctions = new Set([
  '_fatalException',
  '_tickCallback',
  '_rawDebug',
  'abort',
  'availableMemory',
  'constrainedMemory',
  'cpuUsage',
  'cwd',
  'dlopen',
  'emitWarning',
  'exit',
  'hasUncaughtExceptionCaptureCallback',
  'hrtime',
  'memoryUsage',
  'nextTick',
  'reallyExit',
  'ref',
  'resourceUsage',
  'setSourceMapsEnabled',
  'setUncaughtExceptionCaptureCallback',
  'threadCpuUsage',
  'unref',
  'uptime',
]);

/** Globals that reach the network, or that load the HTTP client, which can then be reached by a global symbol. */
const networkGlobals = [
  'fetch',
  'Request',
  'Response',
  'Headers',
  'FormData',
  'WebSocket',
  'EventSource',
  'MessageEvent',
  'CloseEvent',
];

// The service needs little time for an answer, and has to wait for no run and no build to get it.
setPriority(Math.min(getPriority() + 5, constants.priority.PRIORITY_LOW));

module.registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const name = resolved.url.replace(/^node:/, '');
    if (!isBuiltin(resolved.url) || allowedModules.has(name)) return resolved;
    const replacement = replacedModules.get(name);
    // Only a file, and resolved again, so that the replacement can never be a module of Node.
    if (replacement?.protocol === 'file:') return nextResolve(replacement.href, context);
    throw accessDenied(`The module "${name}"`);
  },
});
// A hook that is registered later is called first, and could bypass the one above.
for (const name of ['register', 'registerHooks']) Reflect.deleteProperty(module, name);
module.syncBuiltinESMExports();

for (const name of networkGlobals) Reflect.deleteProperty(globalThis, name);
// These two load the HTTP client as well.
for (const name of ['compileStreaming', 'instantiateStreaming']) Reflect.deleteProperty(WebAssembly, name);

for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(process))) {
  if (typeof value === 'function' && !allowedProcessFunctions.has(name)) withhold(process, name);
}
for (const name of ['stdin', 'stdout', 'stderr']) withhold(process, name);

// The console would write to the removed streams. A compiler's output is not read.
const silent = Object.fromEntries(Object.keys(console).map((name) => [name, () => {}]));
Object.defineProperty(globalThis, 'console', { value: silent });

function withhold(owner: object, name: string): void {
  // Writable, because Node itself assigns to some of these when it loads its modules, which restores none of the functions.
  Object.defineProperty(owner, name, { value: undefined, writable: true, configurable: true });
}

function accessDenied(what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what} is not available to an isolated process.`), {
    code: 'ERR_ACCESS_DENIED',
  });
}
