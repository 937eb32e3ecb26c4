import type { QueueOwner } from '../processes/fair-queue.ts';
import type { ServiceContext } from './context.ts';
import type { SchemaJob } from '../toolchains/schemas/schema-protocol.ts';
import { translateBusyErrors } from './run-errors.ts';

/**
 * The types of a namespace in another language than TypeScript, made of its schemas in a process of the schema compiler; empty where
 * they cannot be made.
 */
export async function declarationsIn(
  { schemaCompiler }: ServiceContext,
  language: 'python',
  { environment, tenant }: { readonly environment: string; readonly tenant?: string },
  { input, output }: Pick<SchemaJob, 'input' | 'output'>,
  signal: AbortSignal,
): Promise<string> {
  const owner: QueueOwner = { environment, tenant: tenant ?? '', token: '' };
  const outcome = await translateBusyErrors('user', () =>
    schemaCompiler.compile({ input, output, language }, owner, signal),
  );
  if ('invalid' in outcome || 'failed' in outcome.result) return '';
  return outcome.result.declarations;
}
