import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { editorSources, BUILDER, HOST } from '../../../tools/generate/example-policies.ts';
import { startEditorInBrowser } from '../editor-in-browser.ts';
import { openPage } from '../harness.ts';
import { PATIENCE } from '../../support/until.ts';

const { service, browser } = await startEditorInBrowser();

type Policy = Map<string, string[]>;

const parsed = (policy: string): Policy =>
  new Map(
    policy.split('; ').map((part) => {
      const [name = '', ...sources] = part.split(' ');
      return [name, sources];
    }),
  );

const written = (policy: Policy): string =>
  [...policy].map(([name, sources]) => `${name} ${sources.join(' ') || "'none'"}`).join('; ');

describe("the local editor's policy", () => {
  let policy: Policy;
  before(async () => {
    const response = await fetch(`${service.origin}/editor/`);
    policy = parsed(response.headers.get('content-security-policy') ?? '');
  });

  /** Opens the editor, has it mark a mistake and show its help, and tells what was violated, up to one directive. */
  async function violations(until?: string): Promise<string[]> {
    let found: (directive: string) => void = () => {};
    const context = await browser.createBrowserContext();
    try {
      const { page, type } = await openPage(context, 'about:blank');
      const seen: string[] = [];
      const violated = new Promise<void>((resolve) => {
        found = (directive) => {
          seen.push(directive);
          if (until && directive.startsWith(until)) resolve();
        };
      });
      await page.exposeFunction('violated', (directive: string) => found(directive));
      await page.evaluateOnNewDocument(() => {
        addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
          (globalThis as unknown as { violated: (directive: string) => void }).violated(effectiveDirective),
        );
      });
      await page.goto(await service.url({ fn: 'add-record', template: 'typescript' }));
      const works = (async () => {
        await page.waitForSelector('.cm-content');
        await type('const x: number = "";');
        await page.waitForSelector('.cm-lintRange-error');
        await page.keyboard.press('F1');
        await page.waitForSelector('dialog[open]');
      })();
      if (until) {
        works.catch(() => {});
        // The page reports what was violated later than it goes on.
        const missed = works.then(() => setTimeout(PATIENCE, undefined, { ref: false }));
        missed.catch(() => {});
        await Promise.race([violated, missed]);
      } else await works;
      return seen;
    } finally {
      await context.close();
    }
  }

  test('contains what the documentation says an editor needs, with its own origin as builder', () => {
    const own: Record<string, string> = { [BUILDER]: "'self'", [HOST]: 'http://localhost:*' };
    for (const { directive, source } of editorSources) {
      assert.ok(policy.get(directive)?.includes(own[source] ?? source), `${directive} ${source}`);
    }
    assert.deepEqual(policy.get('default-src'), ["'none'"]);
    assert.deepEqual(policy.get('require-trusted-types-for'), ["'script'"]);
  });

  test('is not violated, and needs each of its sources', async () => {
    assert.deepEqual(await violations(), []);
    for (const [name, sources] of policy) {
      // Who may frame it is not for the page to see.
      if (!name.endsWith('-src') || name === 'default-src') continue;
      for (const [index, source] of sources.entries()) {
        service.script.policy = (now) =>
          written(new Map(parsed(now)).set(name, (parsed(now).get(name) ?? []).toSpliced(index, 1)));
        const seen = await violations(name);
        assert.ok(
          seen.some((directive) => directive.startsWith(name)),
          `without ${name} ${source.slice(0, 8)}: ${seen.join(' ') || 'nothing'}`,
        );
      }
    }
  });
});
