import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mebibyte } from '../../units.ts';
import { MissingPackageError } from '../language.ts';
import type { Compilation, Compile, Diagnostic, Language } from '../language.ts';
import { stackOptions } from '../../sandbox/runner-limits.ts';
import { pythonString } from '../source-text.ts';
import { textTypes } from '../types/declarations.ts';
import type { PluginTypes } from '../types/declarations.ts';
import { checkSource } from './python-check.ts';

const python: Language = {
  identifier: 'python',
  pretty: 'Python',
  short: 'py',
  template: ({ pluginName, namespace }) => ({
    lang: 'python',
    contents: `PLUGIN = ${pythonString(pluginName)}
NAMESPACE = ${pythonString(namespace)}


def run(input: str) -> str:
    """Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back."""
    name = input.strip() or "world"
    return f"Hello, {name}! This is {PLUGIN} in {NAMESPACE}."
`,
    tests: [
      { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
      { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
    ],
  }),
  typedTemplate: ({
    output,
    declarations,
  }) => `${declarations ? `${declarations}\n\n` : ''}def run(input${declarations ? ': Input' : ''})${declarations ? ' -> Output' : ''}:
    """Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back."""
${output === undefined ? '    raise NotImplementedError("This plugin is not written yet.")' : `    return ${pythonValue(JSON.parse(output), '    ')}`}
`,
  declarations: 'python',
  packages: ['pyodide', 'lru-cache'],
  probe: () => {
    let file: string | undefined;
    try {
      file = fileURLToPath(import.meta.resolve('pyodide/pyodide.asm.wasm'));
    } catch {
      // Reported below.
    }
    if (file && existsSync(file)) return;
    throw new MissingPackageError('pyodide');
  },
  isOptional: true,
  engineOptions: stackOptions,
  loadCompiler,
};

async function loadCompiler(): Promise<Compile> {
  const { Interpreter } = await import('../../sandbox/python/interpreter.ts');
  const interpreter = await Interpreter.start({
    memory: 192 * mebibyte,
    write: () => {},
    tick: () => {},
    extraSource: checkSource,
    modules: ['ast', 're', 'symtable', 'warnings'],
  });
  return (source, types) => check(source, types);

  function check(source: string, types: PluginTypes): Compilation {
    try {
      const reply = interpreter.call({
        head: { do: 'check', signature: signatureOf(types) },
        code: Buffer.from(source),
        text: Buffer.alloc(0),
      });
      const { succeeded, diagnostics } = JSON.parse(reply.subarray(1).toString()) as {
        succeeded: boolean;
        diagnostics: readonly Diagnostic[];
      };
      return succeeded ? { program: { kind: 'python', code: source }, diagnostics } : { diagnostics };
    } catch (error) {
      if (!(error instanceof RangeError || interpreter.isGrowthRefused)) throw error;
      return {
        diagnostics: [{ line: 1, column: 1, message: 'The source nests too deeply.', severity: 'error' }],
      };
    } finally {
      interpreter.restore();
    }
  }
}

const signatureOf = (types: PluginTypes) =>
  types.input === textTypes.input ? 'def run(input: str) -> str' : 'def run(input)';

/** A JSON value as Python. `indent`: that of the line in which it stands. */
function pythonValue(value: unknown, indent: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return pythonString(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((one) => pythonValue(one, inner))
    : Object.entries(value).map(([key, one]) => `${pythonString(key)}: ${pythonValue(one, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (!parts.length) return open + close;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

export default python;
