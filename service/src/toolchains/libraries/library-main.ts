import { checkInEngine } from '../build/engine-check.ts';
import { nameOf } from '../build/imports.ts';
import { findTooDeepNesting, positionsIn } from '../build/positions.ts';
import type { Diagnostic } from '../language.ts';
import { describeError, serveTool } from '../process/serve-tool.ts';
import { jobLimit, longestExport, maxExports } from './library-protocol.ts';
import type { LibraryJob, LibraryOutcome } from './library-protocol.ts';

/* The program of a process of the library checker: reads the modules that it is sent, and runs none of them. */

class InvalidLibraryError extends Error {
  readonly part: keyof LibraryJob;

  constructor(part: keyof LibraryJob, message: string) {
    super(message);
    this.part = part;
  }
}

const isError = (severity: string) => severity === 'Error';

const at = ({ line, column, message }: Omit<Diagnostic, 'severity'>) =>
  `must be an ES module; at line ${line}, column ${column}: ${message}`;

async function checkerBy({ parseSync }: typeof import('oxc-parser')) {
  const parse = (part: keyof LibraryJob, text: string) => {
    const tooDeep = findTooDeepNesting(text);
    if (tooDeep) throw new InvalidLibraryError(part, at(tooDeep));
    const [file, lang] =
      part === 'contents' ? (['library.js', 'js'] as const) : (['library.d.ts', 'dts'] as const);
    const parsed = parseSync(file, text, {
      lang,
      sourceType: 'module',
      showSemanticErrors: part === 'contents',
    });
    const [error] = parsed.errors.filter(({ severity }) => isError(severity));
    if (!error) return parsed.module;
    const place = positionsIn(text)(error.labels[0]?.start ?? 0);
    throw new InvalidLibraryError(part, at({ ...place, message: error.message }));
  };
  return async ({ contents, declarations }: LibraryJob): Promise<LibraryOutcome> => {
    const { staticImports, dynamicImports, staticExports } = parse('contents', contents);
    const entries = staticExports.flatMap((one) => one.entries);
    const [first] = [...staticImports, ...dynamicImports, ...entries.filter((one) => one.moduleRequest)];
    if (first) {
      const { line } = positionsIn(contents)(first.start);
      throw new InvalidLibraryError('contents', `must import nothing; line ${line} does: bundle it`);
    }
    const exports = entries.flatMap(({ exportName }) => nameOf(exportName));
    if (!exports.length)
      throw new InvalidLibraryError('contents', 'must be an ES module that exports something');
    if (exports.length > maxExports || exports.some((name) => name.length > longestExport)) {
      const message = `must export at most ${maxExports} names of at most ${longestExport} characters`;
      throw new InvalidLibraryError('contents', message);
    }
    const [problem] = await checkInEngine({ kind: 'script', code: contents, file: 'library.js' });
    if (problem) throw new InvalidLibraryError('contents', at(problem));
    if (declarations !== undefined) {
      if (declarations.startsWith('#!'))
        throw new InvalidLibraryError('declarations', 'must not begin with "#!"');
      parse('declarations', declarations);
    }
    return { exports };
  };
}

// Last, because it never returns, and what is declared below it would not be there.
await serveTool(async () => {
  const check = await checkerBy(await import('oxc-parser'));
  await check({ contents: 'export const a = 1;', declarations: 'export declare const a: number;' });
  return async (text) => {
    let outcome: LibraryOutcome;
    try {
      outcome = await check(JSON.parse(text) as LibraryJob);
    } catch (error) {
      const message = describeError(error).slice(0, 2000);
      outcome =
        error instanceof InvalidLibraryError
          ? { invalid: error.part, message: error.message.slice(0, 2000) }
          : { failed: message };
    }
    return JSON.stringify(outcome);
  };
}, jobLimit);
