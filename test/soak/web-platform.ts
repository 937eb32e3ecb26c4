import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../bench/figures.ts';
import { inSandbox } from '../service/sandbox/sandbox-expressions.ts';
import { unpackPackage } from './debian-package.ts';

/** An expression, and what it has to come to, as JSON; `TypeError` where it has to throw one. */
interface Case {
  readonly expression: string;
  readonly expected: string;
}

interface UrlCase extends Readonly<Record<string, unknown>> {
  readonly input: string;
  readonly base: string | null;
  readonly failure?: true;
}

interface SetterCase {
  readonly href: string;
  readonly new_value: string;
  readonly expected: Readonly<Record<string, string>>;
}

const parts = 'href origin protocol username password host hostname port pathname search hash'.split(' ');

/** Which share of the web-platform-tests of URLs passes in the sandbox: those that a package of Debian has with it. */
export async function measureWebPlatform(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'web-platform-tests-'));
  try {
    const files = unpackPackage('librust-url-dev', folder);
    const read = (name: string): unknown => {
      const [path = ''] = globSync(`usr/share/cargo/registry/url-*/tests/${name}.json`, { cwd: files });
      return JSON.parse(readFileSync(join(files, path), 'utf8'));
    };
    const urls = (read('urltestdata') as readonly (UrlCase | string)[]).filter(
      (one): one is UrlCase => typeof one !== 'string',
    );
    const setters = Object.entries(read('setters_tests') as Readonly<Record<string, readonly SetterCase[]>>);
    return [
      await measure('URLs', urls.map(urlCase)),
      await measure(
        'setters of URLs',
        setters
          .filter(([part]) => parts.includes(part))
          .flatMap(([part, all]) => all.map((one) => setterCase(part, one))),
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(what: string, cases: readonly Case[]): Promise<Figure> {
  const found = await inSandbox(cases.map(({ expression }) => expression));
  const failed = cases.filter(({ expected }, i) => found[i] !== expected);
  for (const [i, { expression, expected }] of cases.entries())
    if (found[i] !== expected) console.log(`  ${expression}: ${found[i]}, and not ${expected}`);
  return {
    name: `web-platform-tests of ${what} that pass`,
    value: (100 * (cases.length - failed.length)) / cases.length,
    limit: 95,
    bound: 'at least',
    unit: '%',
    note: `${cases.length - failed.length} of ${cases.length}`,
  };
}

function urlCase({ input, base, failure, ...expected }: UrlCase): Case {
  const known = parts.filter((part) => typeof expected[part] === 'string');
  const given = [input, ...(base === null ? [] : [base])].map((one) => JSON.stringify(one)).join();
  return {
    expression: `((url) => ${JSON.stringify(known)}.map((part) => url[part]))(new URL(${given}))`,
    expected: failure ? 'TypeError' : JSON.stringify(known.map((part) => expected[part])),
  };
}

const setterCase = (part: string, { href, new_value: value, expected }: SetterCase): Case => ({
  expression: `((url) => { url.${part} = ${JSON.stringify(value)}; return ${JSON.stringify(Object.keys(expected))}.map((name) => url[name]); })(new URL(${JSON.stringify(href)}))`,
  expected: JSON.stringify(Object.values(expected)),
});
