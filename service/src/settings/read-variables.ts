import { readFileSync } from 'node:fs';
import type { Setting, ValuesOf } from './settings.ts';

/** Variables of the environment, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How large a file with a setting may be, in bytes. A larger one is certainly the wrong file. */
const fileLimit = 64 * 1024;

/**
 * Reads the variables of settings. Each one that cannot be used adds a line to `mistakes`, and has its default in `values`, so that
 * checks of several settings are still possible.
 */
export function readVariables<All extends Readonly<Record<string, Setting<unknown>>>>(
  env: Environment,
  settings: All,
): { values: ValuesOf<All>; mistakes: string[] } {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { variable, isSecret, fallback, parse }] of Object.entries(settings)) {
    const given = readText(env, variable, mistakes, isSecret);
    const parsed = given === undefined ? { value: fallback } : parse(given);
    values[name] = 'value' in parsed ? parsed.value : fallback;
    if ('expected' in parsed) {
      // The content of a file is not quoted: it may be the wrong file, with a secret. JSON keeps any other value on one line.
      const fromFile = Boolean(env[`${variable}_FILE`]?.trim());
      const shown = fromFile
        ? `cannot be used as ${variable}_FILE gives it`
        : isSecret
          ? 'cannot be used'
          : `is ${JSON.stringify(given?.slice(0, 100))}`;
      mistakes.push(`${variable} ${shown}; it must be ${parsed.expected}.`);
    }
  }
  return { values: values as ValuesOf<All>, mistakes };
}

/** The text of a variable, or of the file that `NAME_FILE` names; `undefined` when neither is set. */
function readText(env: Environment, name: string, mistakes: string[], isSecret: boolean): string | undefined {
  const text = env[name]?.trim() || undefined;
  const file = env[`${name}_FILE`]?.trim();
  if (!file) return text;
  if (text !== undefined) {
    mistakes.push(`${name} and ${name}_FILE are both set; only one of them may be.`);
    return undefined;
  }
  try {
    const bytes = readFileSync(file);
    if (bytes.length > fileLimit) throw new Error(`it is larger than ${fileLimit} bytes`);
    const content = bytes.toString('utf8').trim();
    // An empty file is a mistake. With the default instead, a node whose secret has not been written yet would use another
    // database.
    if (!content)
      mistakes.push(
        `${name}_FILE names a file that is empty; it must be the path of a file that holds the value.`,
      );
    return content || undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Not quoted for a secret, because the value itself may have been set instead of a path.
    const shown = isSecret ? 'names a file' : `is ${JSON.stringify(file.slice(0, 100))}`;
    mistakes.push(
      `${name}_FILE ${shown}, which cannot be read (${code ?? (isSecret ? 'it is no file' : message)}); it must be the path of a file that holds the value.`,
    );
    return undefined;
  }
}
