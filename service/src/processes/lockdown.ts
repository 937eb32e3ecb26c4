import module, { isBuiltin } from 'node:module';
import { replacedModules } from './replaced-modules.ts';

/*
 * Takes away from the JavaScript of a process what reaches beyond it: network, other processes, threads, debuggers.
 * `startIsolated` loads this file before a process's own code. Node's permission model withholds files, children and
 * workers, but in Node 24 neither the network nor `process.kill`, which can end the service itself.
 *
 * After it there are no `process.stdin`, `stdout` and `stderr`, because their constructor opens sockets: a process reads and
 * writes its file descriptors with `node:fs`.
 */

/** What an isolated process may import of Node. Each of these works on memory, or on files within the permissions. */
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

/** The functions of `process` that stay. `dlopen` is what `require` loads native add-ons with, where they are permitted. */
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

/** Globals that reach the network, or that load the HTTP client, which then can be reached by a global symbol. */
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

module.registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const name = resolved.url.replace(/^node:/, '');
    if (!isBuiltin(resolved.url) || allowedModules.has(name)) return resolved;
    const replacement = replacedModules.get(name);
    // Resolved again, so that it is a module of Node in no case.
    if (replacement?.protocol === 'file:') return nextResolve(replacement.href, context);
    throw accessDenied(`The module "${name}"`);
  },
});
// A hook that is registered later is asked first, and could answer in place of the one above.
for (const name of ['register', 'registerHooks']) Reflect.deleteProperty(module, name);
module.syncBuiltinESMExports();

for (const name of networkGlobals) Reflect.deleteProperty(globalThis, name);
// These two load the HTTP client as well.
for (const name of ['compileStreaming', 'instantiateStreaming']) Reflect.deleteProperty(WebAssembly, name);

for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(process))) {
  if (typeof value === 'function' && !allowedProcessFunctions.has(name)) withhold(process, name);
}
for (const name of ['stdin', 'stdout', 'stderr']) withhold(process, name);

// The console would write to the streams that are gone. What a compiler prints is of no interest.
const silent = Object.fromEntries(Object.keys(console).map((name) => [name, () => {}]));
Object.defineProperty(globalThis, 'console', { value: silent });

function withhold(owner: object, name: string): void {
  // It can be set, because Node itself does so when it loads some of its modules; that brings none of these back.
  Object.defineProperty(owner, name, { value: undefined, writable: true, configurable: true });
}

function accessDenied(what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what} is not available to an isolated process.`), {
    code: 'ERR_ACCESS_DENIED',
  });
}
