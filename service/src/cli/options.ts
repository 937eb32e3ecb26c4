import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { errorMessage } from '../error-message.ts';

/** A command was called with arguments that it does not accept. The message ends with its usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses the arguments of a command: its options, `--help`, and positional arguments.
 * @param maxPositionals how many positional arguments the command takes at most (default 0)
 * @throws UsageError with the usage for any other argument.
 */
export function readOptions<T extends ParseArgsOptionsConfig>(
  args: string[],
  usage: string,
  options: T,
  maxPositionals = 0,
) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: maxPositionals > 0,
      options: { ...options, help: { type: 'boolean', short: 'h' } } as const,
    });
    const extra = positionals[maxPositionals];
    if (extra !== undefined) throw new Error(`Unexpected argument '${extra}'`);
    return { values, positionals, help: (values as { help?: boolean }).help === true };
  } catch (error) {
    throw new UsageError(`${errorMessage(error)}\n\n${usage}`, { cause: error });
  }
}
