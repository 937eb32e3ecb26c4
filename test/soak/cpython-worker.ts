import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { Interpreter } from '../../service/src/sandbox/python/interpreter.ts';
import { defaultPythonMemory } from '../../service/src/sandbox/python/python-protocol.ts';
import type { Outcome } from './cpython.ts';

/** What the tests share is loaded ahead, as what plugins import is. Then each file begins in the memory that this leaves. */
const harness = String.raw`
def _add_tests(operations):
    import importlib.util, json, sys, types, unittest, unittest.case, unittest.loader, unittest.suite
    sources = {}

    class Sources:
        def find_spec(self, name, path=None, target=None):
            if name in sources:
                return importlib.util.spec_from_loader(name, self, is_package=name in ('test', 'test.support'))
        def create_module(self, spec):
            return None
        def get_source(self, name):
            return sources[name]
        def exec_module(self, module):
            module.__file__ = module.__name__ + '.py'
            exec(compile(sources[module.__name__], module.__file__, 'exec'), module.__dict__)

    def run(head, code, text):
        sources.update(json.loads(text))
        try:
            __import__(head['name'])
        except BaseException as error:
            return json.dumps({'ran': 1, 'skipped': 0, 'failed': {head['name']: f'{type(error).__name__}: {error}'}}).encode()
        tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[head['name']])
        result = unittest.TestResult()
        tests.run(result)
        failed = {one.id(): text.strip().split('\n')[-1] for one, text in result.failures + result.errors}
        return json.dumps({'ran': result.testsRun - len(result.skipped), 'skipped': len(result.skipped), 'failed': failed}).encode()

    # doctest makes its debugger from that of pdb, which needs sockets. No test uses it.
    class Pdb:
        def __init__(self, *args, **options): pass
        def reset(self): pass
        set_trace = set_continue = reset
    sys.modules['pdb'] = types.ModuleType('pdb')
    sys.modules['pdb'].Pdb = Pdb
    sys.modules['pdb'].set_trace = None

    sys.meta_path.append(Sources())
    operations['test'] = run

_add_tests(_operations)
`;

/** A file of tests, and the sources of all modules that it needs, by their names. */
interface Asked {
  readonly name: string;
  readonly sources: ReadonlyMap<string, string>;
}

const interpreter = await Interpreter.start({
  memory: defaultPythonMemory,
  extraSource: harness,
  write: () => {},
  tick: () => {},
});
const port = parentPort;
assert.ok(port);
port.on('message', (asked: Asked) => port.postMessage(runFile(asked)));

/** Runs the tests of a file. A file whose tests do not come to an end is one test that fails. */
function runFile({ name, sources }: Asked): Outcome {
  try {
    const reply = interpreter.call({
      head: { do: 'test', name },
      code: new Uint8Array(0),
      text: Buffer.from(JSON.stringify(Object.fromEntries(sources))),
    });
    return JSON.parse(reply.toString()) as Outcome;
  } catch (error) {
    return { ran: 1, skipped: 0, failed: { [name]: String(error) } };
  } finally {
    interpreter.restore();
  }
}
