import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Language } from '../../../demo/service/language.ts';

// A language whose compiler does what its source says, for tests of what a build process can do.
const probe: Language = {
  identifier: 'probe',
  pretty: 'Probe',
  short: 'pr',
  template: () => ({ lang: 'probe', contents: 'nothing' }),
  probe: () => {},
  loadCompiler: () =>
    Promise.resolve((source: string) => {
      const [what = '', argument = ''] = source.split(' ');
      const doings: Record<string, () => unknown> = {
        nothing: () => '',
        read: () => readFileSync(argument, 'utf8'),
        run: () => execFileSync('/bin/echo', ['ran'], { encoding: 'utf8' }),
        environment: () => JSON.stringify(process.env),
        loop: () => {
          for (;;);
        },
        fill: () => {
          const all: Uint8Array[] = [];
          for (;;) all.push(new Uint8Array(2 ** 20).fill(1));
        },
        crash: () => process.kill(process.pid, 'SIGSEGV'),
        leave: () => process.exit(3),
      };
      let code: string;
      try {
        code = String(doings[what]?.());
      } catch (error) {
        code = String((error as NodeJS.ErrnoException).code);
      }
      return { program: { kind: 'script', code, file: '' }, diagnostics: [] };
    }),
};

export default probe;
