import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import type { Environment } from './environment.ts';

/** How large a file with a setting may be, in bytes. A larger one is certainly the wrong file. */
const fileLimit = 64 * 1024;

/**
 * Reads the variables of a schema. Each one that cannot be used adds a line to `mistakes`, and has its default in `values`, so that
 * checks of several variables are still possible.
 * @param secrets the names of variables whose values must not be in a message
 */
export function readVariables<Shape extends z.ZodRawShape>(
  env: Environment,
  schema: z.ZodObject<Shape>,
  secrets: ReadonlySet<string>,
): { values: z.output<z.ZodObject<Shape>>; mistakes: string[] } {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const given = readText(env, name, mistakes, secrets.has(name));
    const parsed = kind.safeParse(given);
    values[name] = parsed.success ? parsed.data : kind.safeParse(undefined).data;
    if (!parsed.success) {
      const expected = parsed.error.issues[0]?.message;
      // The content of a file is not quoted: it may be the wrong file, with a secret. JSON keeps any other value on one line.
      const fromFile = Boolean(env[`${name}_FILE`]?.trim());
      const shown = fromFile
        ? `cannot be used as ${name}_FILE gives it`
        : secrets.has(name)
          ? 'cannot be used'
          : `is ${JSON.stringify(given?.slice(0, 100))}`;
      mistakes.push(`${name} ${shown}; it must be ${expected}.`);
    }
  }
  return { values: values as z.output<z.ZodObject<Shape>>, mistakes };
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
    // An empty file is a mistake. With the default instead, a node whose secret has not been written yet would use a database of
    // its own.
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
