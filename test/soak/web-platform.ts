import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Figure } from '../bench/figures.ts';
import { Logs } from '../../service/src/sandbox/logs.ts';
import { ScriptRunner } from '../../service/src/sandbox/script/script-runner.ts';
import { unpackSource } from './debian-package.ts';

interface Area {
  readonly name: string;
  /** Which files, as patterns. */
  readonly files: readonly string[];
  /** Which of them are about what plugins do not have. */
  readonly except?: RegExp;
  /** Which share has to pass, in percent. */
  readonly limit: number;
}

const areas: readonly Area[] = [
  { name: 'URLs', files: ['url/*.any.js'], limit: 99 },
  { name: 'encodings', files: ['encoding/*.any.js'], limit: 99 },
  { name: 'Base64', files: ['html/webappapis/atob/*.any.js'], limit: 99 },
  { name: 'structured clones', files: ['html/webappapis/structured-clone/*.any.js'], limit: 99 },
  {
    name: 'cryptography',
    files: ['WebCryptoAPI/**/*.any.js'],
    // Those of derived keys need keys of ECDH before the first of them; the historical ones are of pages without TLS.
    except: /derive_bits|wrapKey|historical|(?:\b|_)(?:rsa|ec|ecdsa|eddsa|okp|RSA|EC|Ed\d|X\d|AES-KW)/,
    limit: 99,
  },
];

/** What a test says that needs what plugins do not have. */
const isBeyond = /\b(?:is not defined|is not supported: use|does not support|instanceof Blob)\b/;

interface Results {
  readonly passed: number;
  /** Of what plugins do not have. */
  readonly beyond: number;
  readonly failures: readonly (readonly [name: string, message: string])[];
}

/** Evaluates the harness of the tests, and then a file of them with what it needs. */
const code = `const { parse, stringify } = JSON, evaluate = globalThis.eval;
export async function run(input) {
  const { harness, scripts, data } = parse(input), failures = [];
  let passed = 0, beyond = 0;
  globalThis.self = globalThis;
  globalThis.GLOBAL = { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false };
  globalThis.fetch = async (name) => ({ json: async () => parse(data[name]) });
  globalThis.setTimeout = (callback) => void Promise.resolve().then(callback);
  evaluate(harness);
  // Without one, the harness knows that it is in no browser.
  globalThis.location = { search: '' };
  // What the tests of other values name beside these, and how they get at shared memory.
  globalThis.Blob = globalThis.ImageData = class {};
  globalThis.WebAssembly = { Memory: class { buffer = new SharedArrayBuffer(0); } };
  const ended = new Promise((resolve) => add_completion_callback(resolve));
  add_result_callback(({ name, status, message }) => {
    if (status === 0) passed++;
    else if (${isBeyond}.test(message)) beyond++;
    else failures.push([name.slice(0, 200), message?.slice(0, 200) ?? '']);
  });
  // The scripts of a page share their variables, as those of one text do that is not strict.
  evaluate(';' + scripts.join('\\n;'));
  await ended;
  return stringify({ passed, beyond, failures });
}`;

/** Which share of the web-platform-tests passes in the sandbox: those that need no page, and that Debian's source of Node has. */
export async function measureWebPlatform(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'web-platform-tests-'));
  try {
    const root = join(unpackSource('nodejs', '*/test/fixtures/wpt', folder), 'test/fixtures/wpt');
    const figures: Figure[] = [];
    for (const area of areas) figures.push(await measure(root, area));
    return figures;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(root: string, { name, files, except, limit }: Area): Promise<Figure> {
  const chosen = globSync([...files], { cwd: root })
    .filter((file) => !file.includes('idlharness') && !except?.test(file))
    .toSorted();
  let [passed, failed, beyond] = [0, 0, 0];
  for (const file of chosen) {
    const results = await resultsOf(root, file);
    passed += results.passed;
    beyond += results.beyond;
    failed += results.failures.length;
    for (const [test, message] of results.failures) console.log(`  ${file}: ${test}: ${message}`);
  }
  return {
    name: `web-platform-tests of ${name} that pass`,
    value: (100 * passed) / (passed + failed),
    limit,
    bound: 'at least',
    unit: '%',
    note: `${passed} of ${passed + failed}; ${beyond} more need what plugins do not have`,
  };
}

const runner = new ScriptRunner();

async function resultsOf(root: string, file: string): Promise<Results> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const pathOf = (name: string) => (name.startsWith('/') ? name : join(dirname(file), name));
  const text = read(file);
  const scripts = [...text.matchAll(/^\/\/ META: script=(.+)$/gm)].map(([, name = '']) => read(pathOf(name)));
  const data = [...text.matchAll(/fetch\("([^"]+)"\)/g)].map(([, name = '']) => [name, read(pathOf(name))]);
  const input = {
    harness: read('resources/testharness.js'),
    scripts: [...scripts, text],
    data: Object.fromEntries(data) as Record<string, string>,
  };
  const program = { kind: 'script', code, file: 'plugin.js' } as const;
  const job = { hash: '', program, deadline: Infinity, logs: new Logs() };
  const outcome = await runner.run(job, JSON.stringify(input));
  if ('result' in outcome) return JSON.parse(outcome.result) as Results;
  const message = 'error' in outcome ? outcome.error.message : 'it waits';
  return { passed: 0, beyond: 0, failures: [['the whole file', message]] };
}
