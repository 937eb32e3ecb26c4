import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from '@codemirror/autocomplete';
import { lazyModule } from '../ui/lazy-module.ts';

/** Modules of Python's standard library, their names, and what each is: a kind (`c`, `f` or `v`) and a signature. */
export type PythonLibrary = Readonly<Record<string, Readonly<Record<string, string>>>>;

const types: Readonly<Record<string, string>> = { c: 'class', f: 'function', v: 'variable' };

const library = lazyModule(
  async (): Promise<PythonLibrary> =>
    ((await import('./python-library.json', { with: { type: 'json' } })) as { default: PythonLibrary })
      .default,
);

/** Completes modules of the standard library and their names. The library is loaded when it is first needed. */
export async function pythonLibrary(context: CompletionContext): Promise<CompletionResult | null> {
  const wanted = wantedNames(lineBefore(context), () => context.state.doc.toString());
  if (!wanted) return null;
  try {
    const options = namesOf(await library.load(), wanted);
    return options && { from: context.pos - wanted.typed.length, options, validFor: /^[\w.]*$/ };
  } catch {
    // The text can be written without it.
    return null;
  }
}

/** Completes as `source`, but nothing in an import: a name that is being written there counts as a name of the file. */
export const outsideImports =
  (source: CompletionSource): CompletionSource =>
  (context) =>
    wantedNames(lineBefore(context), () => '') ? null : source(context);

function lineBefore({ state, pos }: CompletionContext): string {
  const line = state.doc.lineAt(pos);
  return line.text.slice(0, pos - line.from);
}

/** What is completed: the names of a module, or, without one, modules. */
export interface WantedNames {
  readonly module?: string;
  /** The part of the name that is there already. */
  readonly typed: string;
}

/** @param before the line up to the cursor */
export function wantedNames(before: string, source: () => string): WantedNames | undefined {
  const imported = /^\s*(?:import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*|from\s+)([\w.]*)$/.exec(before);
  if (imported) return { typed: imported[1] ?? '' };
  const from = /^\s*from\s+([\w.]+)\s+import\s+\(?(?:\w+(?:\s+as\s+\w+)?\s*,\s*)*(\w*)$/.exec(before);
  if (from) return { module: from[1] ?? '', typed: from[2] ?? '' };
  // After a call, an index or a text this begins with their last character, and means no module.
  const names = before.split(/[^\w.)\]"']/).at(-1) ?? '';
  const member = /^([A-Za-z_]\w*(?:\.\w+)*)\.(\w*)$/.exec(names);
  if (!member) return undefined;
  const module = moduleNamed(member[1] ?? '', source());
  return module === undefined ? undefined : { module, typed: member[2] ?? '' };
}

/** The module that an expression such as `json` or `np.path` means, by the imports of the source. */
function moduleNamed(expression: string, source: string): string | undefined {
  for (const [, list = ''] of source.matchAll(/^[ \t]*import[ \t]+(.{1,500})$/gm)) {
    for (const part of (list.split('#', 1)[0] ?? '').split(',')) {
      const [, name = '', alias] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
      if (name && expression === (alias ?? name)) return name;
    }
  }
  for (const [, line = ''] of source.matchAll(/^[ \t]*from[ \t](.{1,500})$/gm)) {
    const [, module = '', list = ''] = /^([\w.]+)[ \t]+import[ \t](.*)/.exec(line.trim()) ?? [];
    for (const part of list.split(',')) {
      const [, name = '', alias] =
        /^(\w+)(?:\s+as\s+(\w+))?$/.exec(part.replaceAll(/[()]/g, '').trim()) ?? [];
      if (name && expression === (alias ?? name)) return `${module}.${name}`;
    }
  }
  return undefined;
}

export function namesOf(all: PythonLibrary, { module }: WantedNames): Completion[] | null {
  if (module === undefined) return Object.keys(all).map((label) => ({ label, type: 'namespace' }));
  const names = Object.hasOwn(all, module) ? all[module] : undefined;
  if (!names) return null;
  return Object.entries(names).map(([label, about]) => ({
    label,
    type: types[about[0] ?? 'v'] ?? 'variable',
    ...(about.length > 1 && { detail: about.slice(1) }),
  }));
}
