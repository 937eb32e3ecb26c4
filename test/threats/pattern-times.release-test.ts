import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testPackages } from '../packages/packages.ts';
import { projectPatterns } from './source-modules.ts';

/** What is used of `recheck` 4, which is installed when it is first used. */
interface Recheck {
  check(
    source: string,
    flags: string,
    options: { timeout: number },
  ): Promise<{ status: 'safe' | 'vulnerable' | 'unknown'; complexity?: { type: string } }>;
}

// Only in this process: the native ones are not there on every system, and start more slowly than this takes.
process.env['RECHECK_BACKEND'] = 'pure';
const tools = await testPackages();
const recheck = tools('recheck') as Recheck;
/**
 * As much time as a busy machine may need: without a verdict a pattern counts as slow. What may be repeated a hundred times or more
 * is checked as though it had no end, which takes no less time to match, and much less to check.
 */
const check = (source: string, flags: string) => {
  const endless = source.replace(/\{([01]),\d{3,}\}/g, (_, least) => (least === '0' ? '*' : '+'));
  return recheck.check(endless, flags, { timeout: 120_000 });
};

describe("the project's regular expressions", () => {
  test('take linear time, whatever the text', async () => {
    const all = new Map(
      projectPatterns().flatMap(({ file, literals }) =>
        literals.map((pattern) => [JSON.stringify(pattern), { file, ...pattern }] as const),
      ),
    );
    const slow: string[] = [];
    for (const { file, source, flags } of all.values()) {
      const { status } = await check(source, flags);
      if (status !== 'safe') slow.push(`${file}: /${source}/${flags} is ${status}`);
    }
    assert.deepEqual(slow, []);
  });

  test('would not pass with one that takes exponential or polynomial time', async () => {
    for (const [source, status] of [
      ['^(a|a)*$', 'vulnerable'],
      ['\\s+$', 'vulnerable'],
      ['^a+$', 'safe'],
      // The one that is made of text, of a plugin's file.
      [String.raw`^(.*)plugin\.ts:(\d+):(\d+)(.*)$`, 'safe'],
    ] as const)
      assert.equal((await check(source, source.startsWith('^(.*)') ? 's' : '')).status, status, source);
  });
});
