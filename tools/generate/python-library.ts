import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';

/** The modules that the editor completes: those of the standard library that plugins use. */
const MODULES =
  'abc base64 binascii bisect calendar collections collections.abc colorsys contextlib contextvars copy csv dataclasses datetime decimal difflib email.utils enum fractions functools graphlib gzip hashlib heapq hmac html html.parser io ipaddress itertools json locale logging math numbers operator pickle pprint queue random re reprlib secrets shlex statistics string struct sys textwrap time tomllib traceback types typing unicodedata urllib.parse uuid warnings weakref xml.etree.ElementTree zlib zoneinfo';

const DESCRIBE = String.raw`
def _add(operations):
    import importlib, inspect, json, types

    def describe(head, code, text):
        found = {}
        for name in head['names']:
            module = importlib.import_module(name)
            public = getattr(module, '__all__', None) or [one for one in dir(module) if not one.startswith('_')]
            members = {}
            for one in sorted(set(public)):
                value = getattr(module, one, None)
                if isinstance(value, types.ModuleType):
                    continue
                kind = 'c' if isinstance(value, type) else 'f' if callable(value) else 'v'
                signature = ''
                if kind != 'v':
                    try:
                        signature = str(inspect.signature(value))
                        if len(signature) > 120 or '<' in signature:
                            signature = '(…)'
                    except (TypeError, ValueError):
                        pass
                members[one] = kind + signature
            found[name] = members
        return b'=' + json.dumps(found, ensure_ascii=False).encode()

    operations['describe'] = describe

_add(_operations)
`;

const PROGRAM = `
const { Interpreter } = await import('./service/src/sandbox/python/interpreter.ts');
const python = await Interpreter.start({
  memory: 256 * 1024 * 1024,
  write: (_descriptor, bytes) => console.error(Buffer.from(bytes).toString()),
  tick: () => {},
  extraSource: ${JSON.stringify(DESCRIBE)},
});
const reply = python.call({
  head: { do: 'describe', names: ${JSON.stringify(MODULES.split(' '))} },
  code: Buffer.alloc(0),
  text: Buffer.alloc(0),
});
if (reply[0] !== 61) throw new Error(reply.toString());
console.log(reply.subarray(1).toString());
`;

/** The names of Python's standard library for the editor's completion, as JSON, made by the Python that runs plugins. */
export async function pythonLibrary(): Promise<string> {
  const { stdout } = await promisify(execFile)(
    execPath,
    ['--stack-size=4000', '--input-type=module', '--eval', PROGRAM],
    { maxBuffer: 16 * 1024 * 1024 },
  );
  return stdout;
}
