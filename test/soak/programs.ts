/** What a user writes: a new source, and what it answers. */
export interface Written {
  lang: string;
  contents: string;
  /** What a run of it answers to an input. */
  expectedOutput: (input: string) => string;
  /** Whether it can be built. */
  isSound: boolean;
}

const write: Record<string, (mark: string) => string> = {
  javascript: (mark) => `export function run(input) {\n  return '${mark}:' + input;\n}\n`,
  typescript: (mark) =>
    `const mark: string = '${mark}';\nexport function run(input: string): string {\n  return mark + ':' + input;\n}\n`,
  assemblyscript: (mark) => `export function run(input: string): string {\n  return "${mark}:" + input;\n}\n`,
  python: (mark) => `def run(input):\n    return '${mark}:' + input\n`,
};

/** A program with a mark in its text and in its answers, padded to a length that differs from one to the next. */
export function program(lang: string, mark: string, size: number, isSound = true): Written {
  const source = write[lang]?.(mark);
  if (source === undefined) throw new Error(`There is no program in ${lang}.`);
  const padding = `${lang === 'python' ? '#' : '//'} ${'x'.repeat(78)}\n`.repeat(Math.ceil(size / 82));
  const contents = source + (isSound ? '' : 'export function (\n') + padding;
  return { lang, contents, expectedOutput: (input) => `${mark}:${input}`, isSound };
}
