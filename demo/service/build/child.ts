import type { Language } from '../language.ts';
import type { BuildEnd } from './limits.ts';

/** What the build process says: that its compiler is warm, how a build ended, or why it cannot work at all. */
export type BuildReport =
  | { readonly type: 'ready' }
  | { readonly type: 'end'; readonly end: BuildEnd; /** Bytes. */ readonly memory: number }
  | { readonly type: 'broken'; readonly reason: string };

// The build process of one toolchain: compiles the sources that it is sent, one after the other.
const send = (report: BuildReport) => process.send?.(report);
const reasonOf = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

// The service has gone.
process.on('disconnect', () => process.exit());

try {
  const file = new URL(`../languages/${process.argv[2]}`, import.meta.url);
  const { default: language } = (await import(file.href)) as { default: Language };
  const compile = await language.loadCompiler();
  // The first build is many times slower than the next: it is not the user's.
  const trial = await compile(language.template({ pluginName: 'trial', namespace: 'trial' }).contents);
  if (!trial.program) throw new Error(trial.diagnostics.map(({ message }) => message).join('; '));
  process.on('message', (source: string) => {
    void (async () => {
      let end: BuildEnd;
      try {
        end = { compiled: await compile(source) };
      } catch (error) {
        end = { failed: `The compiler failed on this source. ${reasonOf(error)}` };
      }
      send({ type: 'end', end, memory: process.memoryUsage.rss() });
    })();
  });
  send({ type: 'ready' });
} catch (error) {
  send({ type: 'broken', reason: reasonOf(error) });
  process.exitCode = 1;
  process.disconnect();
}
