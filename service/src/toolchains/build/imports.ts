import type { EcmaScriptModule } from 'oxc-parser';
import type { Diagnostic } from '../language.ts';
import type { PluginTypes } from '../types/declarations.ts';
import { positionsIn } from './positions.ts';

type Libraries = NonNullable<PluginTypes['libraries']>;

/** How many exports of a library a message names. */
const namedExports = 30;

/** An import, or an export of what another module exports. */
interface Import {
  /** Offsets in the source, in UTF-16 code units. */
  readonly start: number;
  readonly module: string;
  /** The names of what it takes, apart from types and the whole module. */
  readonly names: readonly string[];
}

/** The name of what is imported or exported; none for a whole module. The kinds are those of the parser. */
export function nameOf({
  kind,
  name,
}: {
  readonly kind: string;
  readonly name: string | null;
}): readonly string[] {
  if (kind === 'Default') return ['default'];
  return kind === 'Name' && name !== null ? [name] : [];
}

function importsOf({ staticImports, staticExports }: EcmaScriptModule): readonly Import[] {
  const imported = staticImports.map(({ start, moduleRequest, entries }) => ({
    start,
    module: moduleRequest.value,
    names: entries.filter(({ isType }) => !isType).flatMap(({ importName }) => nameOf(importName)),
  }));
  const exported = staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ start, moduleRequest, importName, isType }) =>
      moduleRequest
        ? [
            {
              start,
              module: moduleRequest.value,
              names: importName.name !== null && !isType ? [importName.name] : [],
            },
          ]
        : [],
    );
  return [...imported, ...exported];
}

/** The names of the libraries that a source imports. */
export const importedLibraries = (module: EcmaScriptModule): readonly string[] =>
  [...new Set(importsOf(module).map((one) => one.module))].toSorted();

/** The problems of the imports of a source: of what is no library, of what a library does not export, and of those by a call. */
export function checkImports(
  source: string,
  module: EcmaScriptModule,
  libraries: Libraries = [],
): Diagnostic[] {
  const positionAt = positionsIn(source);
  const at = (offset: number, message: string): Diagnostic => ({
    ...positionAt(offset),
    message,
    severity: 'error',
  });
  const exports = new Map(libraries.map((library) => [library.name, library.exports]));
  return [
    ...module.dynamicImports.map(({ start }) =>
      at(start, libraries.length ? 'A library is imported at the top: import … from "…";' : oneFile),
    ),
    ...importsOf(module).flatMap(({ start, module: name, names }) => {
      const known = exports.get(name);
      if (!known) return [at(start, unknownLibrary(libraries))];
      const missing = names.filter((one) => !known.includes(one));
      return missing.map((one) => at(start, missingExport(name, one, known)));
    }),
  ].toSorted((a, b) => a.line - b.line || a.column - b.column);
}

const oneFile = 'A plugin is one file, and this namespace has no libraries that it could import.';

/** The message for an import of something else than a library. */
export const unknownLibrary = (libraries: Libraries = []): string =>
  libraries.length
    ? `A plugin can import the libraries of its namespace and nothing else: ${quote(libraries.map(({ name }) => name))}.`
    : oneFile;

function missingExport(library: string, name: string, known: readonly string[]): string {
  const some = known.slice(0, namedExports);
  const more = known.length > some.length ? ` and ${known.length - some.length} more` : '';
  const what = name === 'default' ? 'default export' : `export "${name}"`;
  return `"${library}" has no ${what}. It exports ${quote(some)}${more}.`;
}

const quote = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');
