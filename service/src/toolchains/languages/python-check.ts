/*
 * Finds the problems of a plugin in Python, in Python. The source is parsed and compiled, and never run.
 */
export const checkSource = String.raw`
def _add_check(operations):
    import ast, builtins, json, re, sys, symtable, warnings

    known = set(dir(builtins)) | {'__file__', '__name__', '__doc__', '__annotations__', '__dict__', '__builtins__'}

    def check(head, code, text):
        source = code.decode('utf-8-sig')
        lines = re.split(r'\r\n|\r|\n', source)
        ascii_lines = {number for number, line in enumerate(lines, 1) if line.isascii()}
        found = []

        def add(line, column, message, severity='error'):
            found.append({'line': max(1, line or 1), 'column': max(1, column), 'message': message, 'severity': severity})

        def by_characters(line, offset):
            text = lines[line - 1] if line and 0 < line <= len(lines) else ''
            return len(text[:max(0, (offset or 1) - 1)].encode('utf-16-le', 'surrogatepass')) // 2 + 1

        def at(node, message, severity='error'):
            text = lines[node.lineno - 1] if node.lineno <= len(lines) else ''
            column = node.col_offset
            if node.lineno not in ascii_lines:
                start = text.encode()[:column].decode('utf-8', 'ignore')
                column = len(start.encode('utf-16-le')) // 2
            add(node.lineno, column + 1, message, severity)

        def answer(succeeded):
            return b'=' + json.dumps({'succeeded': succeeded, 'diagnostics': found}).encode()

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            try:
                tree = ast.parse(source, 'plugin.py')
                compile(source, 'plugin.py', 'exec', dont_inherit=True)
            except SyntaxError as error:
                kind = '' if type(error) is SyntaxError else f'{type(error).__name__}: '
                add(error.lineno, by_characters(error.lineno, error.offset), f'{kind}{error.msg}')
                return answer(False)
            except (RecursionError, MemoryError):
                add(1, 1, 'The source nests too deeply.')
                return answer(False)
            except ValueError as error:
                add(1, 1, str(error))
                return answer(False)
        seen = set()
        for warning in caught:
            place = (warning.lineno, str(warning.message))
            if place in seen:
                continue
            seen.add(place)
            text = lines[warning.lineno - 1] if 0 < warning.lineno <= len(lines) else ''
            add(warning.lineno, len(text) - len(text.lstrip()) + 1, str(warning.message), 'warning')
        check_run(tree, at, add, head.get('signature'))
        check_imports(tree, at)
        if not any(isinstance(node, ast.ImportFrom) and any(one.name == '*' for one in node.names) for node in ast.walk(tree)):
            check_names(source, tree, at)
        return answer(not any(one['severity'] == 'error' for one in found))

    # Without recursion, because a source may nest more deeply than Python calls.
    def inside(node):
        """The nodes of a scope, in their order, without those of the scopes in it."""
        rest = [*ast.iter_child_nodes(node)][::-1]
        while rest:
            child = rest.pop()
            yield child
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                rest.extend([*ast.iter_child_nodes(child)][::-1])

    def check_run(tree, at, add, signature):
        functions, others = [], False
        for node in inside(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == 'run':
                functions.append(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.ClassDef)):
                names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
                names |= {one.asname or one.name for one in getattr(node, 'names', [])}
                others = others or 'run' in names or getattr(node, 'name', None) == 'run'
        if not functions:
            if not others:
                add(1, 1, f'A plugin has a function named "run": {signature}')
            return
        node = functions[-1]
        # What a decorator or an assignment makes of it is not known.
        if others or node.decorator_list:
            return
        arguments = node.args
        most = len(arguments.posonlyargs) + len(arguments.args)
        least = most - len(arguments.defaults)
        named = [one for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is None]
        if least > 1 or named or (most < 1 and not arguments.vararg):
            at(node, f'"run" is called with one argument, the input: {signature}')
        if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in inside(node)):
            at(node, '"run" returns its result; with "yield" it would return a generator.')

    def check_imports(tree, at):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                if node.level:
                    at(node, 'A plugin is one file: it cannot import another.')
                    continue
                names = [node.module, *(f'{node.module}.{one.name}' for one in node.names)]
            else:
                continue
            for name in names:
                first = name.partition('.')[0]
                missing = name if name in head_missing else first
                if first != 'plugin' and (missing in head_missing or first not in sys.stdlib_module_names):
                    at(node, f'A plugin has no module "{missing}". It has the modules of the standard library that reach nothing outside.', 'warning')
                    if isinstance(node, ast.ImportFrom):
                        break

    def check_names(source, tree, at):
        table = symtable.symtable(source, 'plugin.py', 'exec')
        defined = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported() or one.is_namespace()}
        unknown = set()
        # Without recursion, as above.
        rest = [table]
        while rest:
            scope = rest.pop()
            for one in scope.get_symbols():
                name = one.get_name()
                if one.is_declared_global() and one.is_assigned():
                    defined.add(name)
                if one.is_referenced() and (one.is_global() or scope is table):
                    unknown.add(name)
            rest.extend(scope.get_children())
        unknown -= defined | known
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in unknown:
                unknown.discard(node.id)
                at(node, f'The name "{node.id}" is not defined.', 'warning')

    head_missing = frozenset(_missing)
    operations['check'] = check

_add_check(_operations)
`;
