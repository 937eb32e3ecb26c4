/*
 * What runs in Python before any plugin: it loads the library's modules, so that runs need not, and leaves `_call`, the one
 * function that the runner calls. Later runs find the memory as this leaves it.
 */

/** Modules that a plugin probably imports. All others are loaded from the library when a plugin imports them. */
const loadedAhead: readonly string[] =
  `abc base64 bisect calendar collections contextlib copy csv dataclasses datetime decimal difflib enum fractions functools
hashlib heapq hmac html io itertools json locale logging math numbers operator pprint random re secrets statistics string
textwrap time traceback types typing unicodedata urllib.parse uuid warnings xml.sax.saxutils zoneinfo`.split(
    /\s+/,
  );

/** Modules that a plugin does not get, for which it is told why. Without those that only fail when they are used, or need these. */
const withheldModules = `ctypes curses _ctypes dbm ensurepip faulthandler fcntl ftplib grp http.client http.server idlelib imaplib
mailbox msvcrt multiprocessing mmap pdb pip poplib pty pwd readline resource select selectors smtplib socket socketserver sqlite3 ssl
subprocess syslog termios tkinter tty turtle urllib.request urllib.robotparser venv webbrowser winreg winsound xmlrpc
js pyodide pyodide_js _pyodide _pyodide_core`;

/** `modules`: those to load ahead. */
export const bootSource = (modules = loadedAhead): string => String.raw`
def _boot():
    import sys, builtins, io, importlib, json, linecache, logging, marshal, posix, random, traceback, types, warnings
    sys.dont_write_bytecode = True

    class Missing:
        names = frozenset('''${withheldModules}'''.split())
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            if name in cls.names or name.partition('.')[0] in cls.names:
                raise ModuleNotFoundError(f"A plugin has no module {name!r}: it reaches nothing outside of itself.", name=name)
            if name == 'asyncio':
                raise ModuleNotFoundError("A plugin has no module 'asyncio': there is nothing to wait for. An 'async def run' works without it.", name=name)

    class Output(io.TextIOBase):
        encoding = 'utf-8'
        def __init__(self, level, descriptor):
            self._level, self._descriptor, self._rest = level, descriptor, ''
        def writable(self):
            return True
        def write(self, text):
            if not isinstance(text, str):
                raise TypeError(f'write() argument must be str, not {type(text).__name__}')
            lines = (self._rest + text).split('\n') if '\n' in text else None
            if lines is None:
                self._rest += text
            else:
                self._rest = lines.pop()
                for line in lines:
                    self._send(line)
            return len(text)
        def _send(self, line):
            posix.write(self._descriptor, (self._level + line).encode('utf-8', 'replace'))
        def finish(self):
            if self._rest:
                rest, self._rest = self._rest, ''
                self._send(rest)

    out, err = Output('', 1), Output('[error] ', 2)
    sys.stdout = sys.__stdout__ = out
    sys.stderr = sys.__stderr__ = err
    sys.stdin = sys.__stdin__ = io.StringIO()
    # xml.sax.saxutils imports it, for what no plugin can do.
    sys.modules['urllib.request'] = types.ModuleType('urllib.request')
    for name in '''${modules.join(' ')}'''.split():
        importlib.import_module(name)
    del sys.modules['urllib.request']

    if zones := sys.modules.get('zoneinfo._common'):
        def load_zone(key):
            if key == 'UTC':
                return io.BytesIO(b'TZif' + bytes(35) + b'\x01' + bytes(3) + b'\x04' + bytes(6) + b'UTC\x00')
            raise zones.ZoneInfoNotFoundError(f'There is no data of the time zone {key}. A plugin has UTC, and datetime.timezone for a difference to it.')
        zones.load_tzdata = load_zone

    levels = ((logging.ERROR, '[error] '), (logging.WARNING, '[warn] '), (logging.INFO, '[info] '), (0, '[debug] '))
    class Handler(logging.Handler):
        def emit(self, record):
            text = self.format(record)
            if record.name != 'root':
                text = f'{record.name}: {text}'
            level = next(mark for least, mark in levels if record.levelno >= least)
            posix.write(2, (level + text).encode('utf-8', 'replace'))
    logging.raiseExceptions = False
    logging.root.addHandler(Handler())
    logging.root.setLevel(logging.DEBUG)

    def show_warning(message, category, filename, lineno, file=None, line=None):
        posix.write(2, f'[warn] {filename}:{lineno}: {category.__name__}: {message}'.encode('utf-8', 'replace'))
    warnings.showwarning = show_warning
    warnings.resetwarnings()
    warnings.filterwarnings('ignore')
    warnings.filterwarnings('default', module='plugin')
    sys.meta_path.insert(0, Missing)
    sys.path[:] = [path for path in sys.path if path.endswith('.zip')]
    sys.setrecursionlimit(1000)

    file = 'plugin.py'
    dumps, loads, load_code, dump_code = json.dumps, json.loads, marshal.loads, marshal.dumps
    no_value = object()

    def describe(error):
        parts, told, introduction = [], [], ''
        while len(told) < 5:
            head, frames = describe_one(error)
            # What a module handles by itself says nothing to the author.
            if introduction == 'While handling ' and not frames:
                break
            parts.extend([introduction + head, *frames])
            told.append(error)
            if error.__cause__ is not None:
                introduction, error = 'Caused by ', error.__cause__
            elif error.__context__ is not None and not error.__suppress_context__:
                introduction, error = 'While handling ', error.__context__
            else:
                break
            if any(error is one for one in told):
                break
        return '\n'.join(parts)

    def describe_one(error):
        # With its traceback, so that Python can suggest names.
        made = traceback.TracebackException(type(error), error, error.__traceback__, limit=-100, compact=True)
        head = ''.join(made.format_exception_only(show_group=True)).rstrip('\n')
        if isinstance(error, SyntaxError) and error.filename == file:
            return head, []
        frames = traceback.StackSummary.from_list(frame for frame in made.stack if frame.filename == file)
        return head, [line.rstrip('\n') for line in frames.format()]

    def fault(error):
        # The service has the messages of limits.
        if isinstance(error, MemoryError):
            return b'!{"code":"memory-limit"}'
        if isinstance(error, RecursionError):
            return b'!{"code":"stack-limit"}'
        try:
            message = describe(error)
        except BaseException as second:
            message = type(error).__name__
        return b'!' + dumps({'code': 'plugin-error', 'message': message}).encode()

    def finish(value):
        # An "async def" is run to its end. Nothing else runs meanwhile, so that what it waits for must be there.
        if isinstance(value, types.CoroutineType):
            try:
                for _ in range(100_000):
                    if value.send(None) is not None:
                        break
            except StopIteration as stop:
                return stop.value
            raise RuntimeError('"run" waits for something that does not happen: a plugin has no timers and no requests.')
        return value

    def refused(message):
        return b'!' + dumps({'code': 'plugin-error', 'message': message}).encode()

    def encode(text):
        try:
            return b'=' + text.encode()
        except UnicodeEncodeError:
            return b'~' + text.encode('utf-16-le', 'surrogatepass')

    def run(head, code, text):
        random.seed()
        text = text.decode('utf-16-le', 'surrogatepass') if head.get('wide') else text.decode()
        source = head.pop('source').removeprefix('\ufeff')
        module = types.ModuleType('plugin')
        module.__file__ = file
        sys.modules['plugin'] = module
        linecache.cache[file] = (len(source), None, [line + '\n' for line in source.replace('\r\n', '\n').replace('\r', '\n').split('\n')], file)
        try:
            exec(load_code(code), module.__dict__)
            entry = getattr(module, 'run', None)
            if not callable(entry):
                return refused('A plugin has a function "run": def run(input)')
            if not head.get('json'):
                value = finish(entry(text))
                if isinstance(value, str):
                    return encode(value)
                return refused(f'"run" must return a str; it returned {kind_of(value)}.')
            value = finish(entry(loads(text)))
            try:
                written = dumps(value, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
            except (TypeError, ValueError) as error:
                places = ', '.join([str(error), *getattr(error, '__notes__', ())])
                return refused(f'"run" must return a value that JSON can hold. {places}')
            # Half a surrogate pair becomes an escape of JSON.
            return b'=' + written.encode('utf-8', 'backslashreplace')
        except BaseException as error:
            return fault(error)
        finally:
            out.finish()
            err.finish()

    def kind_of(value):
        return 'None' if value is None else f'a value of the type {type(value).__name__}'

    def compile_plugin(head, source, text):
        try:
            with warnings.catch_warnings(record=True):
                return b'=' + dump_code(compile(source.decode('utf-8-sig'), file, 'exec', dont_inherit=True))
        except BaseException as error:
            return fault(error)

    operations = {'run': run, 'compile': compile_plugin}

    def call(data):
        at = 8 + int.from_bytes(data[:4], 'little')
        head = loads(data[8:at])
        middle = at + int.from_bytes(data[4:8], 'little')
        return operations[head['do']](head, data[at:middle], data[middle:])

    import gc
    gc.collect()
    gc.freeze()
    return call, operations, Missing.names | {'asyncio'}

_call, _operations, _missing = _boot()
del _boot
`;
