import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';
import { errorMessage } from '../error-message.ts';
import { StartError } from '../start-error.ts';
import { readOptions, UsageError } from './options.ts';

const usage = `Usage: plugin-editor-service bundle <package> [--out <file>]

Makes a library for plugins of an npm package that is installed here: writes the JSON that publishes it, with all that the package
imports, to standard output or the file. Types are included where the package has them in a single file. It needs the package
rolldown: npm install rolldown`;

/** What a bundle is made of, in the package's `package.json`. */
interface PackageDescription {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly types?: string;
  readonly typings?: string;
  readonly exports?: unknown;
}

/** Bundles an installed package into one module that imports nothing. */
export async function bundle(args: string[]): Promise<void> {
  const {
    help,
    values: { out },
    positionals: [name],
  } = readOptions(args, usage, { out: { type: 'string' } }, 1);
  if (help) {
    console.log(usage);
    return;
  }
  if (name === undefined) throw new UsageError(`The package is missing.\n\n${usage}`);
  const folder = findPackage(name);
  const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageDescription;
  const contents = await bundleModule(name);
  const declarations = readDeclarations(folder, description);
  const { version, description: about } = description;
  const json = JSON.stringify({
    contents,
    ...(declarations !== undefined && { declarations }),
    ...(about !== undefined && { description: about.slice(0, 4000) }),
  });
  if (out === undefined) process.stdout.write(`${json}\n`);
  else writeTo(out, json);
  const types = declarations === undefined ? ', without types, which it does not have in a single file' : '';
  console.error(
    `${name} ${version}: ${Buffer.byteLength(contents)} bytes${types}. Publish it by PUT to …/libraries/${name}/${version}`,
  );
}

function writeTo(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new StartError(`The library cannot be written: ${errorMessage(error)}`, { cause: error });
  }
}

/** The folder of a package that is installed in this folder or one above it. */
function findPackage(name: string): string {
  for (let from = resolve('.'); ; from = dirname(from)) {
    const folder = join(from, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (from === dirname(from))
      throw new StartError(
        `The package "${name}" is not installed here; install it first: npm install ${name}`,
      );
  }
}

async function bundleModule(name: string): Promise<string> {
  let rolldown: typeof import('rolldown');
  try {
    rolldown = await import('rolldown');
  } catch (error) {
    throw new StartError(
      'It needs the package "rolldown"; install it beside the service: npm install rolldown',
      {
        cause: error,
      },
    );
  }
  const missing = new Set<string>();
  try {
    const { output } = await rolldown.build({
      input: name,
      cwd: process.cwd(),
      platform: 'browser',
      transform: { define: { 'process.env.NODE_ENV': '"production"' } },
      onLog: (_level, { code, exporter, message }) => {
        if (code === 'UNRESOLVED_IMPORT') missing.add(exporter ?? message);
      },
      output: { format: 'esm', codeSplitting: false, minify: true },
      write: false,
    });
    const [chunk, ...others] = output.filter((one) => one.type === 'chunk');
    const imports = [...(chunk?.imports ?? []), ...(chunk?.dynamicImports ?? []), ...missing];
    if (!chunk || others.length || imports.length) {
      const what = imports.length ? `it imports ${imports.join(', ')}` : 'it is more than one module';
      throw new StartError(`"${name}" cannot be a library: ${what}.`);
    }
    return chunk.code;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`"${name}" cannot be bundled: ${errorMessage(error)}`, { cause: error });
  }
}

/** The declarations of a package; `undefined` where it has none, or they are in several files. */
function readDeclarations(
  folder: string,
  { types, typings, exports }: PackageDescription,
): string | undefined {
  const file = typesOf(exports) ?? types ?? typings;
  const path = file === undefined ? undefined : join(folder, file);
  if (path === undefined || !existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  const { staticImports, staticExports } = parseSync('library.d.ts', text, {
    lang: 'dts',
    sourceType: 'module',
  }).module;
  const isSingle =
    !staticImports.length &&
    !staticExports.some(({ entries }) => entries.some(({ moduleRequest }) => moduleRequest));
  return isSingle ? text : undefined;
}

/** The file that `exports` names for the types of an import of the package itself. */
function typesOf(exports: unknown): string | undefined {
  if (typeof exports !== 'object' || exports === null) return undefined;
  const conditions = exports as Readonly<Record<string, unknown>>;
  if (typeof conditions['types'] === 'string') return conditions['types'];
  for (const key of ['.', 'types', 'import', 'default']) {
    const found = typesOf(conditions[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
