import { readFileSync } from 'node:fs';
import type * as z from 'zod';
import type { Environment } from './environment.ts';

/** More than any setting has: what is larger is not a file that was meant. In bytes. */
const fileLimit = 64 * 1024;

/**
 * Reads the variables of a schema. A variable that cannot be used is a mistake, one line each, and has its default in
 * `values`, so that what depends on several can still be looked at.
 * @param secrets the names of those whose values no mistake shows
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
      // A file may be another one than was meant, with a secret in it. The rest is one line, whatever the text holds.
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

/** The text of a variable, from itself or from the file that `NAME_FILE` names; `undefined` when there is none. */
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
    // Whoever names a file means it to hold something: with the default in its place, a node whose secret has not been written
    // yet would serve from a database of its own.
    if (!content)
      mistakes.push(
        `${name}_FILE names a file that is empty; it must be the path of a file that holds the value.`,
      );
    return content || undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // The value itself may have been given in the place of a path.
    const shown = isSecret ? 'names a file' : `is ${JSON.stringify(file.slice(0, 100))}`;
    mistakes.push(
      `${name}_FILE ${shown}, which cannot be read (${code ?? (isSecret ? 'it is no file' : message)}); it must be the path of a file that holds the value.`,
    );
    return undefined;
  }
}
