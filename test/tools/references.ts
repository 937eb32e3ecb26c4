import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { Visitor, parseSync } from 'oxc-parser';

/** The folder of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** What a file of this repository names: another file, or a package. */
export interface Reference {
  /**
   * - `import`: code that is loaded, by an import, a re-export, `import()`, `import.meta.resolve()`, a URL relative to the
   *   module, or the tags of a page.
   * - `type`: an import that is gone at run time.
   */
  readonly kind: 'import' | 'type';
  /** As it is written. */
  readonly specifier: string;
  /** A path from the root for a file or a folder; a package's name and what follows it otherwise. */
  readonly target: string;
}

/**
 * The applications in `test/apps` are left out. They install the packages as any user does, beside packages of their own, so that the
 * rules for top-level folders are not for them.
 */
const excluded = ['**/node_modules/**', '**/dist/**', 'test/apps/*/**'];

/** The files of code, and the pages, that a pattern names; as paths from the root with forward slashes. */
export const filesIn = (pattern: string): string[] =>
  globSync(pattern, { cwd: root, exclude: excluded })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:[cm]?[jt]sx?|html)$/.test(path))
    .toSorted();

const known = new Map<string, readonly Reference[]>();

/** All that a file refers to, in the order of its text. It is read once in each process: several tests ask for all files. */
export function referencesOf(file: string): readonly Reference[] {
  const references = known.get(file) ?? referencesIn(file, readFileSync(root + file, 'utf8'));
  known.set(file, references);
  return references;
}

function referencesIn(file: string, text: string): Reference[] {
  if (file.endsWith('.html')) return referencesOfPage(file, text);
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0]?.message}`);

  const references: Reference[] = [];
  const add = (kind: Reference['kind'], specifier: string) =>
    references.push({ kind, specifier, target: targetOf(file, specifier) });
  /** An argument, where it is written as text. */
  const addText = (node: unknown) => {
    if (isText(node)) add('import', node.value);
  };
  /** The same for a URL that is relative to the module, which is so without a period before it, too. */
  const addUrl = (node: unknown) => {
    if (!isText(node) || /^(?:[a-z]+:|\/)/i.test(node.value)) return;
    add('import', node.value.startsWith('.') ? node.value : `./${node.value}`);
  };
  const named = (node: { source: { value: string } | null; importKind?: string; exportKind?: string }) => {
    if (!node.source) return;
    const isType = node.importKind === 'type' || node.exportKind === 'type';
    add(isType ? 'type' : 'import', node.source.value);
  };

  new Visitor({
    ImportDeclaration: named,
    ExportNamedDeclaration: named,
    ExportAllDeclaration: named,
    TSImportType: ({ source }) => add('type', source.value),
    ImportExpression: ({ source }) => addText(source),
    // new URL('./file', import.meta.url), and functions that take the same two, such as `moduleUrl`.
    NewExpression: ({ arguments: [path, base] }) => {
      if (isModuleUrl(base)) addUrl(path);
    },
    CallExpression: ({ callee, arguments: [path, base] }) => {
      if (isModuleUrl(base)) addUrl(path);
      else if (text.slice(callee.start, callee.end) === 'import.meta.resolve') addText(path);
    },
  }).visit(program);
  return references;

  function isModuleUrl(node: { start: number; end: number } | undefined): boolean {
    return node !== undefined && text.slice(node.start, node.end) === 'import.meta.url';
  }
}

const isText = (node: unknown): node is { value: string } =>
  typeof node === 'object' && node !== null && 'value' in node && typeof node.value === 'string';

const isFile = (path: string) => statSync(root + path, { throwIfNoEntry: false })?.isFile() === true;

/** What a page loads. An address from the origin's root is one from the page's own folder, where Vite serves it from. */
function referencesOfPage(file: string, text: string): Reference[] {
  return [...text.matchAll(/<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]+)"/g)]
    .map(([, address = '']) => address)
    .filter((address) => !/^(?:[a-z]+:|#)/i.test(address))
    .map((address) => ({
      kind: 'import',
      specifier: address,
      target: targetOf(file, address.replace(/^\//, './')),
    }));
}

/** A path from the root for what begins with a period, and the specifier itself for a package. */
function targetOf(file: string, specifier: string): string {
  if (!/^\.\.?(?:\/|$)/.test(specifier)) return specifier;
  const path = join(dirname(file), specifier.replace(/\?.*$/, ''));
  if (existsSync(root + path)) return path;
  // The extension is added by the code that names the module.
  const [found = path] = ['.ts', '.tsx', '.js'].map((ending) => path + ending).filter((one) => isFile(one));
  return relative('.', found);
}
