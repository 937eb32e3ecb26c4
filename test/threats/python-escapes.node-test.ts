import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadedProgram } from '../../service/src/plugins/program.ts';
import type { LoggedOutcome } from '../../service/src/sandbox/outcome.ts';
import {
  ClosedCallError,
  makeImports,
  openImports,
} from '../../service/src/sandbox/python/closed-imports.ts';
import { Interpreter } from '../../service/src/sandbox/python/interpreter.ts';
import { defaultLimits, type AdjustableLimits } from '../../service/src/sandbox/run-limits.ts';
import { Sandbox } from '../../service/src/sandbox/sandbox.ts';
import { mebibyte } from '../../service/src/units.ts';

/*
 * The ways that led from Python into JavaScript or to the machine in other systems that run Pyodide, by their advisories, and what
 * else could lead there. After each, the same memory answers for somebody else.
 */

// More time than by default, because some attacks import much, and no test is about the limit.
const sandbox = new Sandbox({ limits: { ...defaultLimits, time: 60_000 } });
after(() => sandbox.close());
const owner = { environment: 'com.acme', tenant: 'one', token: '' };
const run = (code: string, limits?: AdjustableLimits): Promise<LoggedOutcome> =>
  sandbox.run({ program: loadedProgram({ kind: 'python', code }), input: '', owner, limits });

const body = (text: string) => `def run(input):\n${text.replaceAll(/^/gm, '    ')}\n`;

/** What each comes to: a result, or the message of its error. */
const attacks: Record<string, readonly [code: string, expected: RegExp]> = {
  'import js': [body('import js\nreturn str(js.process)'), /no module 'js'/],
  pyodide_js: [body('import pyodide_js\nreturn "in"'), /no module 'pyodide_js'/],
  run_js: [body('from pyodide.code import run_js\nreturn str(run_js("1"))'), /no module 'pyodide'/],
  _pyodide_core: [body('import _pyodide_core\nreturn "in"'), /no module '_pyodide_core'/],
  _pyodide: [body('import _pyodide._base\nreturn "in"'), /no module '_pyodide'/],
  'the proxies of ffi': [body('from pyodide.ffi import create_proxy\nreturn "in"'), /no module 'pyodide'/],
  'a finder that is removed': [
    body(
      'import sys, importlib\nsys.meta_path[:] = [f for f in sys.meta_path if "Missing" not in str(f)]\nfor name in ["js", "pyodide_js", "_pyodide_core"]:\n    try: importlib.import_module(name); return name\n    except ImportError: pass\nimport pyodide\nreturn str(pyodide.__file__)',
    ),
    /No module named '_pyodide_core'|\/lib\/python\.zip|No module named/,
  ],
  create_builtin: [
    body(
      'import _imp, importlib.machinery as m\nout = []\nfor name in ["_pyodide_core", "_ctypes", "_socket", "_posixsubprocess", "_testcapi", "fcntl", "mmap"]:\n    try: out.append(str(_imp.create_builtin(m.ModuleSpec(name, None))))\n    except ImportError: out.append("none")\nreturn " ".join(out)',
    ),
    /^(none|None)( (none|None))*$/,
  ],
  ctypes: [body('import ctypes\nreturn str(ctypes.CDLL(None))'), /no module 'ctypes'/],
  'a library that is loaded': [
    body(
      'import _imp, importlib.machinery as m\nreturn str(_imp.create_dynamic(m.ModuleSpec("x", None, origin="/x.so")))',
    ),
    /has no attribute|No such file|closed|dynamic|not supported/i,
  ],
  sockets: [body('import socket\nreturn "in"'), /no module 'socket'/],
  subprocess: [body('import subprocess\nreturn "in"'), /no module 'subprocess'/],
  'os.fork': [body('import os\nreturn str(os.fork())'), /not implemented|no attribute/i],
  'os.execv': [body('import os\nos.execv("/bin/sh", ["sh"])'), /Error/],
  'os.posix_spawn': [
    body('import os\nreturn str(os.posix_spawn("/bin/sh", ["sh"], {}))'),
    /no attribute|closed|Error/,
  ],
  'os.kill': [body('import os, signal\nos.kill(1, 9)\nreturn "sent"'), /Error|closed|sent/],
  'os._exit': [body('import os\nos._exit(0)'), /closed|without a result|cannot go on/],
  'os.abort': [body('import os\nos.abort()'), /closed|cannot go on/],
  'files of the machine': [body('return open("/etc/passwd").read()'), /No such file/],
  'a written file': [body('open("/tmp/x", "w")\nreturn "in"'), /Read-only file system/],
  'a list of files': [body('import os\nreturn str(os.listdir("/proc"))'), /No such file/],
  'the environment': [body('import os\nreturn str(dict(os.environ))'), /^\{(?:'LC_CTYPE': '[\w.-]+')?\}$/],
  threads: [
    body('import threading\nthreading.Thread(target=print).start()\nreturn "in"'),
    /can't start new thread/,
  ],
  'signal handlers': [
    body(
      'import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\nsignal.raise_signal(signal.SIGTERM)\nreturn "none"',
    ),
    /none|closed/,
  ],
  'timers of signals': [
    body('import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\nreturn "in"'),
    /_setitimer_js.* closed|no attribute/,
  ],
  'sys.settrace': [
    body(
      'import sys\nseen = []\nsys.settrace(lambda frame, *_: seen.append(frame.f_code.co_filename))\n(lambda: 1)()\nsys.settrace(None)\nreturn str(set(seen))',
    ),
    /^\{'plugin\.py'\}$/,
  ],
  'frames of the runner': [
    body(
      'import sys\nframe = sys._getframe()\nnames = []\nwhile frame:\n    names.append(frame.f_code.co_name)\n    frame = frame.f_back\nreturn str(names)',
    ),
    /^\['run', 'run', 'call'\]$/,
  ],
  'a pickle': [
    body(
      'import pickle\nclass Bad:\n    def __reduce__(self): return (eval, ("__import__(\'js\')",))\nreturn str(pickle.loads(pickle.dumps(Bad())))',
    ),
    /no module 'js'/,
  ],
  'an exception that crosses': [
    `class Bad(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\n${body('raise Bad()')}`,
    /Bad/,
  ],
  'subclasses of object': [
    body(
      'return str([c.__name__ for c in object.__subclasses__() if c.__module__ in ("pyodide.ffi", "_pyodide_core", "js")])',
    ),
    /^\[\]$/,
  ],
  'a finalizer that outlives the run': [
    `import builtins, atexit, weakref\nclass Late:\n    def __del__(self): builtins.leaked = 1\n${body('late = Late(); late.me = late\nweakref.finalize(late, print)\natexit.register(print, "late")\nreturn "left"')}`,
    /^left$/,
  ],
};

for (const [name, [code, expected]] of Object.entries(attacks)) {
  test(`Python reaches nothing outside by ${name}`, async () => {
    const outcome = await run(code);
    const text = 'error' in outcome ? outcome.error.message : outcome.result;
    assert.match(text, expected);
    if ('error' in outcome) assert.equal(outcome.error.code, 'plugin-error');
    const next = await run(
      'import builtins, os, sys\ndef run(input): return str([hasattr(builtins, "leaked"), sys.gettrace(), len(sys.meta_path), type(sys.stdout).__name__])',
    );
    assert.deepEqual(next, { result: "[False, None, 4, 'Output']", logs: [] });
  });
}

test('Python code that damages its memory ends in an error or alone, and leaves nothing', async () => {
  for (const damage of [
    // Code objects whose instructions no compiler makes.
    'def f(): pass\nf.__code__ = f.__code__.replace(co_code=bytes([100, 255, 83, 0] * 50), co_consts=())\nreturn str(f())',
    'def f(): pass\nf.__code__ = f.__code__.replace(co_code=bytes(range(256)) * 2, co_stacksize=0)\nreturn str(f())',
    'def f(): pass\nf.__code__ = f.__code__.replace(co_stacksize=0, co_code=bytes([124, 200] * 100 + [83, 0]))\nreturn str(f())',
    'import marshal\nreturn str(marshal.loads(b"\\xe3" + bytes(range(255)) * 4))',
  ]) {
    const outcome = await run(body(damage), { ...defaultLimits, time: 2000 });
    if ('error' in outcome) {
      assert.ok(
        ['plugin-error', 'time-limit', 'memory-limit', 'stack-limit', 'runner-crashed'].includes(
          outcome.error.code,
        ),
      );
    }
    assert.deepEqual(await run(body('return "works"')), { result: 'works', logs: [] });
  }
});

describe('the WebAssembly module of CPython', () => {
  const file = fileURLToPath(import.meta.resolve('pyodide/pyodide.asm.wasm'));
  const module = new WebAssembly.Module(new Uint8Array(readFileSync(file)));
  const memory = new WebAssembly.Memory({ initial: 1 });
  const table = new WebAssembly.Table({ initial: 1, element: 'anyfunc' });
  const guest = () => ({ memory, table });
  const events = { write: () => {}, tick: () => {}, grow: () => false };

  test('has no function of the host but those that a pure run needs: every other is closed, or fails as a system call does', () => {
    const imports = makeImports(module, guest, events, new Uint8Array(0));
    let closed = 0;
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function' || openImports.includes(name)) continue;
      imports.restore();
      const given = imports.object[from]?.[name] as (...args: unknown[]) => unknown;
      let result: unknown;
      try {
        result = given(0, 0, 0, 0, 0, 0);
      } catch (error) {
        assert.ok(error instanceof ClosedCallError, name);
        assert.equal(imports.closedCall(), error);
        closed += 1;
        continue;
      }
      assert.ok(name.startsWith('__syscall_') && typeof result === 'number' && result < 0, name);
    }
    assert.ok(closed > 200, `${closed} are closed`);
  });

  test('is given nothing but functions of this service, and globals that are numbers', () => {
    const { object } = makeImports(module, guest, events, new Uint8Array(0));
    for (const group of Object.values(object)) {
      for (const value of Object.values(group)) {
        if (value instanceof WebAssembly.Global) assert.equal(value.value, 0);
        else assert.equal(typeof value, 'function');
      }
    }
  });

  const start = (image?: Uint8Array) =>
    Interpreter.start({
      memory: mebibyte,
      modules: [],
      extraSource: `
_operations["hash"] = lambda head, code, text: str(hash(text)).encode()
_operations["list"] = lambda head, code, text: str(len([bytes(1000) for _ in range(int(text))])).encode()
`,
      image,
      ...events,
    });
  const call = (interpreter: Interpreter, operation: string, text = 'text') =>
    interpreter
      .call({ head: { do: operation }, code: new Uint8Array(0), text: Buffer.from(text) })
      .toString();
  let first: Interpreter;
  before(async () => {
    const drawn = mock.method(crypto, 'getRandomValues', (values: Uint8Array) => values.fill(7));
    first = await start();
    drawn.mock.restore();
  });

  test('hashes by a seed that the first start draws, and that no run can have to itself', async () => {
    const instance = new WebAssembly.Instance(
      module,
      makeImports(module, guest, events, new Uint8Array(0)).object,
    );
    // After the two numbers with which an image begins.
    const seedAt = 8 + (instance.exports['_Py_HashSecret'] as WebAssembly.Global<'i32'>).value;
    const { image } = first;
    const seed = image.subarray(seedAt, seedAt + 24);
    assert.deepEqual(new Set(seed), new Set([7]));
    assert.equal(call(await start(image), 'hash'), call(first, 'hash'));
    // The interpreter's own names keep the hashes that they have had since its start, so that no name of a run would equal them.
    seed.fill(8);
    const mixed = await start(image);
    assert.throws(() => call(mixed, 'hash'), /Python has no result/);
  });

  test('grows its memory in few steps, however small what a run allocates is', (t) => {
    const grow = t.mock.method(WebAssembly.Memory.prototype, 'grow');
    first.restore();
    first.limitMemory(64 * mebibyte);
    assert.equal(call(first, 'list', '30000'), '30000');
    const steps = grow.mock.callCount();
    assert.ok(steps > 0 && steps <= 10, `${steps} steps`);
    first.restore();
    grow.mock.mockImplementation(() => {
      throw new RangeError('The system has no memory.');
    });
    first.limitMemory(512 * mebibyte);
    assert.throws(() => call(first, 'list', '200000'), /Python has no result/);
    assert.equal(first.isGrowthRefused, true);
  });
});
