import { readFileSync } from 'node:fs';
import { code, table } from './markdown.ts';
import type { ServiceFacts } from './service.ts';

const PATH = 'service/src/settings/settings.ts';

/** The table of the service's variables, each with the doc comment before it. */
export function settingsTable({ settings }: ServiceFacts): string {
  const text = readFileSync(PATH, 'utf8');
  return table(
    ['variable', 'default', 'meaning'],
    settings.map(({ option, variable, default: value, kind }) => {
      const [, comment] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*${option}: `).exec(text) ?? [];
      if (comment === undefined)
        throw new Error(`${PATH}: ${option} has no doc comment, which the documentation needs`);
      const [meaning = '', documentedDefault] = comment
        .replaceAll(/\s*\n\s*\* ?/g, ' ')
        .trim()
        .replace(/ @remarks .*/, '')
        .split(' @default ');
      return [
        code(variable),
        documentedDefault ?? (value === '' ? '-' : code(value)),
        `${meaning} ${valueOf(kind)}`.trim(),
      ];
    }),
  );
}

/** What a value has to be, by the message of a failed check: without the refused value, and without a bound that no setting reaches. */
function valueOf(kind: string): string {
  const words = kind.replace(/; ".*$/, '').replace(/: a whole number from \d+ to 1000000000$/, '');
  return words && `Value: ${words}.`;
}
